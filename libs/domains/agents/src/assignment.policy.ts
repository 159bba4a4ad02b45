import { createHash } from 'node:crypto';
import type { Rollout } from '@aps/entities';

/** Weights are basis points: all arms together have so many. */
export const ALL_WEIGHTS = 10_000;

/** What a new chat may be assigned by: itself, or whoever has begun it and those like it. */
export interface ChatUnit {
  chat_id: string;
  /** Null where nobody knows: then the chat stands for itself. */
  originator: string | null;
}

/** The same for the same unit as long as the rollout runs; of many units each as likely as the others. From 0 to {@link ALL_WEIGHTS} - 1. */
export function bucketOf(rolloutId: string, unitKey: string): number {
  const digest = createHash('sha256').update(`${rolloutId}:${unitKey}`).digest('hex');
  return Number(BigInt(`0x${digest}`) % BigInt(ALL_WEIGHTS));
}

/** The arm that a chat is assigned to: the first whose weight, and those of the arms before it, come to more than the bucket. */
export function armOf(rollout: Pick<Rollout, 'id' | 'unit' | 'arms'>, { chat_id, originator }: ChatUnit): Rollout['arms'][number] {
  const { id, unit, arms } = rollout;
  const bucket = bucketOf(id, unit === 'originator' ? (originator ?? chat_id) : chat_id);
  let cumulative = 0;
  return arms.find(({ weight }) => (cumulative += weight) > bucket) ?? arms[arms.length - 1];
}
