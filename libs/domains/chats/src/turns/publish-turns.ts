import type { Outbox } from '@aps/platform/outbox';

/** Publishes dispatched turns after their commit; what fails is left to the relay. */
export async function publishTurns(outbox: Outbox, turns: { id: string; org_id: string; chat_id: string }[]): Promise<void> {
  if (turns.length === 0) return;
  await outbox
    .publish(turns.map((t) => ({ id: t.id, name: 'turn.run', payload: { org_id: t.org_id, chat_id: t.chat_id, turn_id: t.id } })))
    .catch(() => undefined);
}
