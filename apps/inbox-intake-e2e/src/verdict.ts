import { sql } from '@aps/platform/testing';
import { until, type Platform } from '../../api-gateway-e2e/support';
import type { Ended } from './people';
import { REPLIED_WELL, repliesVerdict, type RepliesVerdict } from './replies';
import type { Senders } from './senders';

/** What has become of messages, by the database. */
export interface Verdict {
  /** Messages that were said to be taken, each counted once. */
  acknowledged: number;
  /** Of these, the ones that are not there. */
  lost: number;
  /** Messages that are there twice, or were taken under two ids. */
  stored_twice: number;
  /** Messages whose evaluation has not ended, or that are held. */
  stuck: number;
  /** Messages that no chat has, or that it has not answered; but for those that were terminated. */
  unanswered: number;
  /** Messages that more than one chat was begun for, or that were answered twice. */
  begun_twice: number;
  /** Those that are stuck or unanswered, in words. */
  waiting: string[];
  /** Messages that were terminated, and have another chat than they had then, or one that is not over. */
  gone_on: number;
}

export const ALL_WELL = { waiting: [], lost: 0, stored_twice: 0, stuck: 0, unanswered: 0, begun_twice: 0, gone_on: 0 };

/** A message at the end. */
export interface MessageNow {
  id: string;
  key: string;
  channel_kind: 'email' | 'webhook';
  state: string;
  /** Its last evaluation and its chat in words. */
  now: string;
  chat_id: string | null;
  chat_status: string | null;
  chats: number;
  answers: number;
}

const MESSAGES = sql<MessageNow>(`
  WITH begun AS (SELECT origin_ref_id AS id, count(*)::int AS n FROM chats WHERE origin_kind = 'inbox' GROUP BY 1
  ), answered AS (SELECT chat_id, count(*)::int AS n FROM messages WHERE role = 'assistant' GROUP BY 1)
  SELECT m.id, m.subject AS key, m.channel_kind, m.state, c.id AS chat_id, c.status AS chat_status,
    concat_ws(' ', m.channel_kind, m.subject, m.state, m.hold_reason, m.decided_by, m.status, 'deliveries', m.deliveries, 'steps', m.steps_done, 'chat', c.status) AS now,
    coalesce(b.n, 0) AS chats, coalesce(a.n, 0) AS answers
  FROM inbox_messages m LEFT JOIN chats c ON c.id::text = m.dispatched->>'chat_id' LEFT JOIN begun b ON b.id = m.id::text
    LEFT JOIN answered a ON a.chat_id = c.id
  WHERE m.inbox_id = $1`);

/** What else is known of a campaign. */
export interface Known {
  terminated?: ReadonlyMap<string, Ended>;
  /** All mails that agents have answered with, where mails are to be answered. */
  received?: readonly string[];
  restMs?: number;
}

/** Waits until every message is evaluated and answered, and says what is wrong about them; what is still so after a while is told as it is. */
export async function verdictOf(
  platform: Platform,
  { inbox, taken }: Senders,
  { terminated = new Map(), received, restMs = 90_000 }: Known = {},
): Promise<Verdict & Partial<RepliesVerdict>> {
  const rowsNow = () => platform.database((db) => db.query(MESSAGES, [inbox.id]));
  const isWaited = ({ id, state, answers }: MessageNow) => ['evaluating', 'held'].includes(state) || (!terminated.has(id) && answers === 0);
  const repliesTo = (rows: MessageNow[]) => received && repliesVerdict(received, rows, terminated);
  const atRest = async () => {
    // What cannot be asked just now, because it has been killed or all is busy, is asked again.
    const rows = await rowsNow().catch(() => undefined);
    return rows && !rows.some(isWaited) && !repliesTo(rows)?.replies_missing;
  };
  await until('messages are evaluated and answered', atRest, restMs, 500).catch(() => undefined);
  const rows = await rowsNow();
  const ids = new Set(rows.map(({ id }) => id));
  const count = (is: (row: MessageNow) => boolean) => rows.filter(is).length;
  return {
    acknowledged: taken.size,
    lost: [...taken.values()].filter((said) => [...said].some((id) => !ids.has(id))).length,
    stored_twice: rows.length - new Set(rows.map(({ key }) => key)).size + [...taken.values()].filter((said) => said.size > 1).length,
    waiting: rows.filter(isWaited).map(({ now }) => now),
    stuck: count(({ state }) => state === 'evaluating' || state === 'held'),
    unanswered: count(({ id, chats, answers }) => !terminated.has(id) && (chats === 0 || answers === 0)),
    begun_twice: count(({ chats, answers }) => chats > 1 || answers > 1),
    gone_on: count(
      ({ id, chat_id, chat_status, chats }) =>
        terminated.has(id) &&
        (chat_id !== terminated.get(id)!.chat || chats !== (chat_id ? 1 : 0) || (chat_status !== null && chat_status !== 'ARCHIVED')),
    ),
    ...repliesTo(rows),
  };
}

export const ALL_WELL_AND_REPLIED = { ...ALL_WELL, ...REPLIED_WELL };
