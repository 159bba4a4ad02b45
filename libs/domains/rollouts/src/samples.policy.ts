import type { Rollout } from '@aps/entities';
import type { ChatDecisions, CountedChat } from './arm-chats';
import type { Sample } from './statistics';

/** A figure of chats. Where they are assigned by who is behind them, the chats of one are not independent of each other. */
export function sampleOf(chats: readonly CountedChat[], of: (chat: CountedChat) => number | string | null, unit: Rollout['unit']): Sample {
  const values: number[] = [];
  const clusters: string[] = [];
  for (const chat of chats) {
    const value = of(chat);
    if (value === null) continue;
    values.push(Number(value));
    clusters.push(chat.unit);
  }
  return unit === 'originator' ? { values, clusters } : { values };
}

/** Each decision that was reviewed, and whether it is disputed. Those of one chat rest on the same rule, and are mostly disputed together or not at all. */
export function disputesOf(decisions: readonly ChatDecisions[], unit: Rollout['unit']): Sample {
  const values: number[] = [];
  const clusters: string[] = [];
  for (const { chat_id, unit: behind, reviewed, disputed } of decisions)
    for (let i = 0; i < reviewed; i++) {
      values.push(Number(i < disputed));
      clusters.push(unit === 'originator' ? behind : chat_id);
    }
  return { values, clusters, alike: true };
}
