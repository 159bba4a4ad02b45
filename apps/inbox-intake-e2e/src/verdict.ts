import { sql } from '@aps/platform/testing';
import { until, type Platform } from '../../api-gateway-e2e/support';
import type { Senders } from './senders';

/** What has become of messages, by the database. */
export interface Verdict {
  /** Messages that were said to be taken, each counted once. */
  acknowledged: number;
  /** Of these, the ones that are not there. */
  lost: number;
  /** Messages that are there twice, or were taken under two ids. */
  stored_twice: number;
  /** Messages whose evaluation has not ended. */
  stuck: number;
  /** Messages that no chat has, or that it has not answered. */
  unanswered: number;
  /** Messages that more than one chat was begun for, or that were answered twice. */
  begun_twice: number;
}

const MESSAGES = sql<{ id: string; key: string; state: string; chats: number; answers: number }>(`
  WITH begun AS (SELECT origin_ref_id AS id, count(*)::int AS n FROM chats WHERE origin_kind = 'inbox' GROUP BY 1
  ), answered AS (SELECT chat_id::text AS id, count(*)::int AS n FROM messages WHERE role = 'assistant' GROUP BY 1)
  SELECT m.id, m.subject AS key, m.state, coalesce(b.n, 0) AS chats, coalesce(a.n, 0) AS answers
  FROM inbox_messages m LEFT JOIN begun b ON b.id = m.id::text LEFT JOIN answered a ON a.id = m.dispatched->>'chat_id' WHERE m.inbox_id = $1`);

/** Waits until every message is evaluated and answered, and says what is wrong about them; what is still so after a while is told as it is. */
export async function verdictOf(platform: Platform, { inbox, taken }: Senders, restMs = 90_000): Promise<Verdict> {
  const rowsNow = () => platform.database((db) => db.query(MESSAGES, [inbox.id]));
  const atRest = async () => (await rowsNow()).every(({ state, answers }) => state !== 'evaluating' && answers > 0);
  await until('messages are evaluated and answered', atRest, restMs, 500).catch(() => undefined);
  const rows = await rowsNow();
  const ids = new Set(rows.map(({ id }) => id));
  const count = (is: (row: (typeof rows)[number]) => boolean) => rows.filter(is).length;
  return {
    acknowledged: taken.size,
    lost: [...taken.values()].filter((said) => [...said].some((id) => !ids.has(id))).length,
    stored_twice: rows.length - new Set(rows.map(({ key }) => key)).size + [...taken.values()].filter((said) => said.size > 1).length,
    stuck: count(({ state }) => state === 'evaluating'),
    unanswered: count(({ chats, answers }) => chats === 0 || answers === 0),
    begun_twice: count(({ chats, answers }) => chats > 1 || answers > 1),
  };
}

export const ALL_WELL = { lost: 0, stored_twice: 0, stuck: 0, unanswered: 0, begun_twice: 0 };
