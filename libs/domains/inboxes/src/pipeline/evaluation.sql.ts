import type { Dispatched, EvaluationWait, HeldFor, HoldReason, InboxEnvelope, InboxMessage, Inbox, TraceRow } from '@aps/entities';
import { batchStatement, MAX_TOGETHER, statement } from '@aps/platform/database';
import { deleteJobs, insertJobs } from '@aps/platform/outbox';
import { claimStatement, lastStepDone, runStatements, stepDone, type RunTable } from '@aps/platform/runs';
import { appendUpdates, updateOf, type Told } from '../messages/message-log.sql';

const TABLE = 'inbox_messages';
/** Held, and kept still: what was forgotten nothing lets go any more. */
const IS_HELD = `state = 'held' AND raw_available`;
const passedAt = (passes: string) => `CASE WHEN ${passes} THEN coalesce(${TABLE}.passed_at, now()) ELSE ${TABLE}.passed_at END`;

export const EVALUATIONS = {
  kind: 'inbox_message',
  table: TABLE,
  payload: { org_id: 'org_id', message_id: 'id' },
  // A gate holds the messages of suspended organizations, each with a row in its trace.
  isSuspended: () => 'false',
  isEnded: () => 'false',
} satisfies RunTable<'inbox.evaluate'>;

export const RUNS = runStatements<'inbox.evaluate'>(EVALUATIONS);
const OF_MESSAGE = [
  ...([
    'id',
    'org_id',
    'inbox_id',
    'channel_kind',
    'recipient',
    'sender_address',
    'sender_name',
    'sender_key',
    'subject',
    'size_bytes',
    'tags',
    'wait',
  ] as const),
  ...(['evaluation_no', 'evaluation_cause', 'revision_id', 'passed_at', 'dispatched', 'received_at'] as const),
] as const;
const OF_ENVELOPE = ['headers', 'body_text', 'payload', 'attachments', 'auth', 'automatic', 'reply_to', 'references'] as const;
const OF_INBOX = [
  ...([
    'target_kind',
    'target_id',
    'spike_protection_enabled',
    'rate_limit_messages_per_day',
    'rate_limit_classifier_calls_per_day',
  ] as const),
  ...(['rate_limit_per_sender_per_hour', 'rate_limit_per_sender_per_minute'] as const),
] as const;
const columns = (of: string, names: readonly string[]) => names.map((name) => `${of}."${name}"`).join(', ');

/** A message with what it says, and with what its inbox is at the moment. */
export interface LoadedMessage
  extends
    Pick<InboxMessage, (typeof OF_MESSAGE)[number]>,
    Pick<InboxEnvelope, (typeof OF_ENVELOPE)[number]>,
    Pick<Inbox, (typeof OF_INBOX)[number]> {
  inbox_status: Inbox['status'];
  inbox_deleted: boolean;
  org_suspended: boolean;
}

/** What a message says, and what its inbox is at the moment. @param m SQL name of the message's row */
const loaded = (m: string) => `
    SELECT ${columns(m, OF_MESSAGE)}, ${columns('e', OF_ENVELOPE)}, ${columns('i', OF_INBOX)},
           i.status AS inbox_status, i.deleted_at IS NOT NULL AS inbox_deleted, o.suspended_at IS NOT NULL AS org_suspended`;
const OF_CLAIM: readonly string[] = ['id', 'org_id', 'wait'];
/** Claims, and reads with it what is not large: of the message as it is locked, which is not always as the statement has found it. */
export const CLAIM = claimStatement(EVALUATIONS, {
  // Of a mail, little of its size is text.
  columns: `${columns(
    'r',
    OF_MESSAGE.filter((name) => !OF_CLAIM.includes(name)),
  )}, CASE r.channel_kind WHEN 'webhook' THEN r.size_bytes ELSE 0 END AS bytes`,
  answer: `v.evaluation_no, v.bytes, (
    SELECT row_to_json(k) FROM (${loaded('v')}
    FROM inbox_envelopes e, inboxes i, organizations o
    WHERE v.verdict = 'claimed' AND v.size_bytes <= ${MAX_TOGETHER} AND e.message_id = v.id AND i.id = v.inbox_id AND o.id = v.org_id LIMIT 1) k
  ) AS message`,
});
/** Passes over large ones where it reads several, so that they are read alone. */
export const LOAD = batchStatement<{ id: string }>(
  'load_message',
  ({ id }) => id,
  (locked) => `
  SELECT x.id AS batch_key, row_to_json(k) AS answer FROM jsonb_to_recordset($1::jsonb) AS x(id uuid) CROSS JOIN LATERAL (${loaded('m')}
    FROM ${TABLE} m JOIN inbox_envelopes e ON e.message_id = m.id JOIN inboxes i ON i.id = m.inbox_id JOIN organizations o ON o.id = m.org_id WHERE m.id = x.id ${locked && `AND m.size_bytes <= ${MAX_TOGETHER}`} LIMIT 1
  ) k`,
);

/** What an evaluation has come to, with what is written besides. */
export interface Settling {
  id: string;
  fence: string;
  evaluation_no: number;
  state: Exclude<InboxMessage['state'], 'evaluating'>;
  verdict: InboxMessage['verdict'];
  hold_reason: HoldReason | null;
  decided_by: string;
  tags: string[];
  /** What it was handed to, and what it became there. */
  dispatched: Dispatched | null;
  chat_message_id: string | null;
  /** It passes the rates with this, and counts for them from now on. */
  passes: boolean;
  /** Of one that is held, what that waits for. */
  wait: EvaluationWait | null;
  trace: TraceRow[];
  at: Date;
}

/**
 * Ends evaluations: the messages, their traces, their events, and the end of their jobs; but none that has begun something for an inbox that is
 * deleted by now, of which the answer says that. Rows are found by a condition that the planner
 * thinks rare, since it plans while the tables are empty.
 */
export const SETTLE = batchStatement<Settling>(
  'settle_message',
  ({ id }) => id,
  (locked) => `
  WITH l AS MATERIALIZED (
    SELECT s.*, k.* FROM jsonb_to_recordset($1::jsonb) AS s(id uuid, fence bigint, evaluation_no int, state text, verdict text, hold_reason text, decided_by text, tags text[], dispatched jsonb,
      chat_message_id uuid, passes boolean, wait jsonb, trace jsonb, at timestamptz)
    CROSS JOIN LATERAL (
      SELECT m.status, m.org_id, s.dispatched IS NOT NULL AND i.deleted_at IS NOT NULL AS too_late FROM ${TABLE} m JOIN inboxes i ON i.id = m.inbox_id WHERE m.id = s.id AND m.fence = s.fence AND m.status = 'running' FOR NO KEY UPDATE OF m, i ${locked}
    ) k
  ), m AS (
    UPDATE ${TABLE} SET ${lastStepDone(TABLE, `'settled'`, 'now()')}, wait = l.wait, state = l.state, verdict = l.verdict, hold_reason = l.hold_reason, decided_by = l.decided_by, tags = l.tags,
      passed_at = ${passedAt('l.passes')}, updated_at = now(), dispatched = coalesce(l.dispatched, ${TABLE}.dispatched),
      chat_message_id = CASE WHEN l.dispatched IS NULL THEN ${TABLE}.chat_message_id ELSE l.chat_message_id END,
      previous_dispatches = CASE WHEN l.dispatched IS NULL OR ${TABLE}.dispatched IS NULL THEN ${TABLE}.previous_dispatches ELSE ${TABLE}.previous_dispatches || ${TABLE}.dispatched END
    FROM l WHERE l.status = 'running' AND NOT l.too_late AND ${TABLE}.id = l.id
    RETURNING ${TABLE}.id, ${TABLE}.org_id, ${TABLE}.inbox_id, ${TABLE}.received_at, l.at, ${updateOf(TABLE)} AS data
  ), o AS (${deleteJobs({ from: `(SELECT id FROM l WHERE status = 'running' AND NOT too_late) j`, id: 'j.id' })}
  ), t AS (INSERT INTO inbox_traces (message_id, org_id, evaluation_no, rows) SELECT id, org_id, evaluation_no, trace FROM l WHERE trace <> '[]' AND NOT too_late
  ), ${appendUpdates('m')}
  SELECT batch_key, answer FROM (
    SELECT id AS batch_key, before, json_build_object('inbox_id', inbox_id, 'before', before, 'data', data, 'parked', EXISTS (SELECT 1 FROM ${TABLE} x WHERE x.parked AND x.org_id = told.org_id)) AS answer
    FROM told
    UNION ALL SELECT id, 0, '{"too_late": true}' FROM l WHERE too_late
  ) y ORDER BY before`,
);
export const STEP = statement(
  `UPDATE ${TABLE} SET ${stepDone(TABLE)}, passed_at = ${passedAt('$3')} WHERE id = $1 AND fence = $2 AND status = 'running'`,
);
export const IS_SUSPENDED = statement('SELECT FROM organizations WHERE id = $1 AND suspended_at IS NOT NULL');
/** An evaluation, with the fence of who has lost it, that was begun anew, or ended before anybody else took it over. */
export const IS_OVER = statement(`SELECT FROM ${TABLE} WHERE id = $1 AND (evaluation_no <> $2 OR fence = $3 AND status = 'settled')`);
/** Waits before its handler is tried to be begun again. */
export const PUT_OFF = statement(`
  WITH r AS (
    UPDATE ${TABLE} SET status = 'waiting', wait = $3, deliveries = 0, lease_owner = NULL, lease_expires_at = NULL WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id, org_id
  )${insertJobs('inbox.evaluate', { from: 'r', id: 'r.id', payload: { org_id: 'r.org_id', message_id: 'r.id' }, at: '$4::timestamptz' })}`);
/** Of one that its workers were lost with again and again, unless it is evaluated anew meanwhile. */
export const GIVE_UP = statement(`
  UPDATE ${TABLE} SET status = 'settled', finished_at = now(), lease_owner = NULL, lease_expires_at = NULL, parked = false, wait = NULL, state = 'held', verdict = 'quarantined',
    hold_reason = 'quarantined', decided_by = 'worker_lost', updated_at = now() WHERE id = $1 AND evaluation_no = $2 AND status <> 'settled'`);
/**
 * The evaluation begins anew, under the rule set that is deployed now; one that is under way loses its fence. What stages have tagged a message
 * with goes on with it where none is run again.
 */
const begins = (cause: string, wait: string) => `
    status = 'queued', state = 'evaluating', verdict = NULL, hold_reason = NULL, decided_by = NULL, tags = CASE ${cause} WHEN 'release' THEN ${TABLE}.tags ELSE '{}' END, evaluation_no = ${TABLE}.evaluation_no + 1, evaluation_cause = ${cause},
    revision_id = (SELECT i.current_revision_id FROM inboxes i WHERE i.id = ${TABLE}.inbox_id), lease_owner = NULL, lease_expires_at = NULL, parked = false, wait = ${wait}, deliveries = 0,
    steps_done = 0, error = NULL, dispatched_at = clock_timestamp(), started_at = NULL, finished_at = NULL, updated_at = now()`;
export const BEGIN = statement<{ evaluation_no: number }>(
  `UPDATE ${TABLE} SET ${begins('$2', '$3')} WHERE id = $1 RETURNING evaluation_no`,
);
/** What a human has released is not judged anew, and what is replayed or retried stays that: it joins no thread, however long it was held. */
const GOES_ON = `CASE WHEN ${TABLE}.wait->'held_for'->>'by_hand' IS NOT NULL THEN 'release' WHEN ${TABLE}.evaluation_cause IN ('replay', 'retry') THEN ${TABLE}.evaluation_cause ELSE 'auto_release' END`;
/** Held messages go on, with a row in the trace of each, but for those that somebody is at. Values: ids, reason, rows of the trace, time. */
export const RELEASE = statement<Told & { id: string; org_id: string; evaluation_no: number }>(`
  WITH l AS MATERIALIZED (
    SELECT id FROM ${TABLE} WHERE id = ANY ($1) AND ${IS_HELD} AND hold_reason = $2 ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  ), m AS (
    UPDATE ${TABLE} SET ${begins(GOES_ON, `jsonb_build_object('resume_at', NULL, 'target', ${TABLE}.wait->'held_for'->'target', 'held_for', coalesce(${TABLE}.wait->'held_for', '{}') || jsonb_build_object('reason', $2::text))`)}
    FROM l WHERE ${TABLE}.id = l.id
    RETURNING ${TABLE}.id, ${TABLE}.org_id, ${TABLE}.inbox_id, ${TABLE}.received_at, ${TABLE}.evaluation_no, $4::timestamptz AS at, ${updateOf(TABLE)} AS data
  ), o AS (${insertJobs('inbox.evaluate', { from: 'm', id: 'm.id', payload: { org_id: 'm.org_id', message_id: 'm.id' }, generation: 'm.evaluation_no' })}
  ), t AS (INSERT INTO inbox_traces (message_id, org_id, evaluation_no, rows) SELECT id, org_id, evaluation_no, $3::jsonb FROM m
  ), ${appendUpdates('m')}
  SELECT id, org_id, evaluation_no, inbox_id, before, data FROM told ORDER BY inbox_id, before`);

export const INSERT_TRACE = statement('INSERT INTO inbox_traces (message_id, org_id, evaluation_no, rows) VALUES ($1, $2, $3, $4)');
export const TRACE = statement<{ rows: TraceRow[] }>(
  'SELECT rows FROM inbox_traces WHERE message_id = $1 AND evaluation_no = $2 ORDER BY id',
);

const since = (window: string, sender = '$2') =>
  `SELECT FROM ${TABLE} WHERE inbox_id = $1 AND sender_key = ${sender} AND passed_at > now() - interval '${window}'`;
/** How many of a sender have passed, counted no further than the limits; those are the third and fourth value. */
export const PASSED_OF_SENDER = statement<{ minute: number; hour: number }>(`
  SELECT (SELECT count(*)::int FROM (${since('1 minute')} LIMIT $3) x) AS minute, (SELECT count(*)::int FROM (${since('1 hour')} LIMIT $4) x) AS hour`);
/** How many have passed in ten minutes, and how many may: fifty, or ten times what the same hour of the week before had, if that is more. */
export const SPIKE = statement<{ passed: number; room: number }>(`
  WITH hours AS (SELECT date_trunc('hour', now(), 'UTC') - d * interval '1 day' AS hour FROM generate_series(1, 7) d
  ), counts AS (SELECT h.hour, coalesce(sum(t.n), 0) AS n FROM hours h LEFT JOIN inbox_tallies t ON t.inbox_id = $1 AND t.hour = h.hour GROUP BY h.hour)
  SELECT (SELECT count(*)::int FROM ${TABLE} WHERE inbox_id = $1 AND passed_at > now() - interval '10 minutes') AS passed,
         greatest(50, ceil(10 * (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) FROM counts) / 6))::int AS room`);

const today = `(now() AT TIME ZONE 'UTC')::date`;
/**
 * What was counted of a day, locked until the transaction ends. Who asks counts what has passed since somebody asked last, which nobody has
 * counted: mostly nothing, and all that has passed already where there was no cap before. What is counted has passed at the time of its
 * transaction, as it is noted here.
 *
 * @param of SQL of a condition over messages
 */
const COUNTED = (of: string) => {
  const midnight = `${today}::timestamp AT TIME ZONE 'UTC'`;
  const passed = (since: string) => `(SELECT count(*)::int FROM ${TABLE} m WHERE ${of} AND m.passed_at ${since})`;
  return statement<{ n: number }>(`
  INSERT INTO intake_counts AS c (org_id, of, what, day, n, counted_at)
  SELECT $1, $2::text, 'messages', ${today}, coalesce(k.n, ${passed(`>= ${midnight}`)}), now()
  FROM (SELECT) x LEFT JOIN intake_counts k ON k.org_id = $1 AND k.of = $2 AND k.what = 'messages' AND k.day = ${today}
  ON CONFLICT (org_id, of, what, day) DO UPDATE SET n = c.n + ${passed('> c.counted_at')}, counted_at = greatest(c.counted_at, excluded.counted_at) RETURNING n`);
};
export const COUNTED_OF_INBOX = COUNTED('m.inbox_id = $2');
export const COUNTED_OF_ORG = COUNTED('m.org_id = $1');
export const COUNT_ONE = statement(
  `UPDATE intake_counts SET n = n + 1 WHERE org_id = $1 AND of = ANY ($2) AND what = 'messages' AND day = ${today}`,
);
/** Counts a call where there is room for it, in both or, where one is full, in none. Limits are null for any number. */
export const COUNT_CALL = statement<{ of: string }>(`
  INSERT INTO intake_counts AS c (org_id, of, what, day, n) SELECT $1, $2, 'classifier_calls', ${today}, 1 WHERE $3::int IS NULL OR $3 > 0
  ON CONFLICT (org_id, of, what, day) DO UPDATE SET n = c.n + 1 WHERE $3::int IS NULL OR c.n < $3 RETURNING of`);

/** An inbox that holds messages for some reason, with what tells whether that is over. */
export interface HoldingInbox extends Pick<
  Inbox,
  | 'org_id'
  | 'status'
  | 'spike_protection_enabled'
  | 'rate_limit_messages_per_day'
  | 'rate_limit_classifier_calls_per_day'
  | 'rate_limit_per_sender_per_hour'
  | 'rate_limit_per_sender_per_minute'
> {
  inbox_id: string;
  hold_reason: HoldReason;
  org_suspended: boolean;
}
/** Inboxes and reasons for which they hold something: by the index alone, one look for each, however much they hold. */
const FOUND = `
  WITH RECURSIVE found AS (
    (SELECT inbox_id, hold_reason FROM ${TABLE} WHERE ${IS_HELD} ORDER BY inbox_id, hold_reason LIMIT 1)
    UNION ALL
    SELECT n.inbox_id, n.hold_reason FROM found f CROSS JOIN LATERAL (
      SELECT inbox_id, hold_reason FROM ${TABLE} WHERE ${IS_HELD} AND (inbox_id, hold_reason) > (f.inbox_id, f.hold_reason) ORDER BY inbox_id, hold_reason LIMIT 1
    ) n
  )`;
/** Value: reasons. */
export const HOLDING = statement<HoldingInbox>(`${FOUND}
  SELECT f.inbox_id, f.hold_reason, i.org_id, i.status, i.spike_protection_enabled, i.rate_limit_messages_per_day, i.rate_limit_classifier_calls_per_day, i.rate_limit_per_sender_per_hour,
         i.rate_limit_per_sender_per_minute, o.suspended_at IS NOT NULL AS org_suspended
  FROM found f JOIN inboxes i ON i.id = f.inbox_id AND i.deleted_at IS NULL JOIN organizations o ON o.id = i.org_id WHERE f.hold_reason = ANY ($1)`);
/** What is held for each reason and can be let go still: how much, of an inbox up to a bound, which is the value, and for how long at most. */
export const HELD = statement<{ reason: HoldReason; n: number; oldest_s: number }>(`${FOUND}
  SELECT f.hold_reason AS reason, sum(h.n)::int AS n, extract(epoch FROM now() - min(h.oldest))::float8 AS oldest_s
  FROM found f JOIN inboxes i ON i.id = f.inbox_id AND i.deleted_at IS NULL CROSS JOIN LATERAL (
    SELECT count(*) AS n, min(x.received_at) AS oldest FROM (
      SELECT received_at FROM ${TABLE} WHERE inbox_id = f.inbox_id AND ${IS_HELD} AND hold_reason = f.hold_reason
        AND received_at > now() - i.retention_days * interval '1 day' ORDER BY received_at LIMIT $1
    ) x
  ) h WHERE h.n > 0 GROUP BY f.hold_reason`);
export const CALLS_TODAY = statement<{ n: number }>(
  `SELECT coalesce(sum(n), 0)::int AS n FROM intake_counts WHERE org_id = $1 AND of = $2 AND what = 'classifier_calls' AND day = ${today}`,
);
/** A held message that may be let go. */
export interface HeldMessage extends Pick<InboxMessage, 'id' | 'inbox_id' | 'received_at'> {
  held_for: HeldFor | null;
}
const HELD_MESSAGE = `id, inbox_id, received_at, wait->'held_for' AS held_for`;
/** Values: inbox, reason, how many calls of classifiers one may need, how many in all, and how many credits one may need; null is any number. */
export const OLDEST_HELD = statement<HeldMessage>(`
  SELECT ${HELD_MESSAGE} FROM ${TABLE} WHERE inbox_id = $1 AND ${IS_HELD} AND hold_reason = $2 AND raw_expires_at > now()
    AND ($3::int IS NULL OR coalesce((wait->'held_for'->>'calls')::int, 1) <= $3)
    AND ($5::numeric IS NULL OR coalesce((wait->'held_for'->>'credits')::numeric, 0) <= $5) ORDER BY received_at, id LIMIT $4`);
/**
 * The oldest of each queue of turns or of a process's key, taken in turns among the oldest of an inbox, so that a full queue does not keep those of
 * others back. Values: inbox, among how many, how many in all.
 */
export const OLDEST_OF_QUEUES = statement<HeldMessage>(`
  SELECT h.id, h.inbox_id, h.received_at, h.held_for FROM (
    SELECT o.*, row_number() OVER (PARTITION BY o.held_for ORDER BY o.received_at, o.id) AS place FROM (
      SELECT ${HELD_MESSAGE} FROM ${TABLE} WHERE inbox_id = $1 AND ${IS_HELD} AND hold_reason = 'queue_full' AND raw_expires_at > now() ORDER BY received_at, id LIMIT $2
    ) o
  ) h ORDER BY h.place, h.received_at, h.id LIMIT $3`);
const OF_SENDERS = `inbox_id = $1 AND ${IS_HELD} AND hold_reason = 'rate_sender'`;
/** The oldest of each sender, as many as its windows have room for. Values: inbox, how many it takes of a sender a minute and an hour, null for any number, and how many in all. */
export const OLDEST_OF_SENDERS = statement<HeldMessage>(`
  WITH RECURSIVE senders AS (
    (SELECT sender_key FROM ${TABLE} WHERE ${OF_SENDERS} ORDER BY sender_key LIMIT 1)
    UNION ALL
    SELECT n.sender_key FROM senders s CROSS JOIN LATERAL (SELECT sender_key FROM ${TABLE} WHERE ${OF_SENDERS} AND sender_key > s.sender_key ORDER BY sender_key LIMIT 1) n
  ), under_way AS MATERIALIZED (
    SELECT sender_key, count(*) AS n FROM ${TABLE} WHERE inbox_id = $1 AND state = 'evaluating' AND evaluation_cause <> 'release' AND wait->'held_for' IS NOT NULL AND passed_at IS NULL GROUP BY sender_key
  )
  SELECT h.* FROM senders s LEFT JOIN under_way u ON u.sender_key = s.sender_key CROSS JOIN LATERAL (
    SELECT least($4::int, $2::int - (SELECT count(*) FROM (${since('1 minute', 's.sender_key')} LIMIT $2) x), $3::int - (SELECT count(*) FROM (${since('1 hour', 's.sender_key')} LIMIT $3) x))
           - coalesce(u.n, 0) AS places
  ) r CROSS JOIN LATERAL (
    SELECT ${HELD_MESSAGE} FROM ${TABLE} WHERE ${OF_SENDERS} AND sender_key = s.sender_key AND raw_expires_at > now() ORDER BY received_at, id LIMIT greatest(r.places, 0)
  ) h ORDER BY h.received_at, h.id LIMIT $4`);
/** Messages of an organization that were released and are not settled yet, by what they were held for. */
export interface ReleasedMessages extends Pick<InboxMessage, 'inbox_id'> {
  held_for: HeldFor;
  /** These messages count towards the rates of a window when they pass. */
  unpassed: boolean;
  n: number;
}
export const RELEASED = statement<ReleasedMessages>(`
  SELECT m.inbox_id, m.wait->'held_for' AS held_for, m.passed_at IS NULL AS unpassed, count(*)::int AS n FROM inboxes i CROSS JOIN LATERAL (
    SELECT inbox_id, wait, passed_at FROM ${TABLE} WHERE inbox_id = i.id AND state = 'evaluating' AND wait->'held_for' IS NOT NULL
  ) m WHERE i.org_id = $1 AND i.deleted_at IS NULL GROUP BY 1, 2, 3`);

/** An earlier mail that a mail refers to, and that has begun no chat yet: of the same channel, where the key of a mail is its Message-ID. */
export const BEHIND = statement(`
  SELECT FROM ${TABLE} m JOIN ${TABLE} o ON o.channel_id = m.channel_id AND o.dedupe_key = ANY ($2)
  WHERE m.id = $1 AND o.state = 'evaluating' AND o.dispatched IS NULL AND (o.received_at, o.id) < (m.received_at, m.id) LIMIT 1`);
/**
 * The newest chat of an inbox's thread that what a message refers to belongs to, nearest reference first. Mails refer to what mails and replies are known by, webhooks to the
 * values of webhooks, which others may know, or guess.
 */
export const THREAD = statement<{ chat_id: string; agent_id: string }>(`
  SELECT c.id AS chat_id, c.agent_id FROM unnest($2::text[]) WITH ORDINALITY AS r(ref, n) CROSS JOIN LATERAL (
    (SELECT dispatched->>'chat_id' AS chat_id, received_at AS at FROM ${TABLE}
     WHERE inbox_id = $1 AND message_ref = r.ref AND channel_kind = $4 AND dispatched->>'kind' = 'agent' AND id <> $3 ORDER BY received_at DESC LIMIT 1)
    UNION ALL
    SELECT chat_id::text, created_at FROM inbox_replies WHERE $4 = 'email' AND inbox_id = $1 AND message_ref = r.ref AND chat_id IS NOT NULL
  ) x JOIN chats c ON c.id = x.chat_id::uuid
  ORDER BY r.n, x.at DESC LIMIT 1`);
/** The mail that began the chat that a chat does again; it was handed to the first of them alone. @param chat SQL of its id */
export const mailOfRetry = (chat: string) =>
  `SELECT CASE c.origin_kind WHEN 'inbox' THEN c.origin_ref_id::uuid END AS id FROM chats c WHERE c.id = ${chat} AND c.source_chat_id IS NOT NULL`;
/** An address of a message that is forgotten: it can be compared still, and so guessed, but not read. @param address SQL */
export const hashed = (address: string): string => `encode(sha256(convert_to(${address}, 'UTF8')), 'hex')`;
/** Whether somebody wrote, or was written to, in the mails of a chat, those among them that have begun another since, and that of a retry. */
export const TOOK_PART = statement(`
  WITH m AS (
    SELECT id, sender_address FROM ${TABLE} WHERE dispatched->>'chat_id' = $1
    UNION ALL
    SELECT id, sender_address FROM ${TABLE} WHERE previous_dispatches <> '[]' AND previous_dispatches @> jsonb_build_array(jsonb_build_object('chat_id', $1::text))
    UNION ALL
    SELECT id, sender_address FROM ${TABLE} WHERE id = (${mailOfRetry('$1::uuid')})
  ) SELECT 1 FROM m CROSS JOIN LATERAL (SELECT participants FROM inbox_envelopes WHERE message_id = m.id LIMIT 1) e
  WHERE m.sender_address = $2 OR $2 = ANY (e.participants) OR ${hashed('$2')} = ANY (e.participants)
    OR $2 = ANY (ARRAY(SELECT r.to_address FROM inbox_replies r WHERE r.message_id = m.id AND r.chat_id::text = $1 AND r.sent_at IS NOT NULL)) LIMIT 1`);
