import type { EnvironmentCommand } from '@aps/entities';
import { isOfLive } from '@aps/guards';
import { statement } from '@aps/platform/database';
import { HEARTBEAT_TTL_S, SLACK_S } from '../environments.policy';
import { isThere } from '../environments.sql';

export type CommandStatus = EnvironmentCommand['status'];
/** A command without the bytes of its file. */
export type CommandWork = Pick<
  EnvironmentCommand,
  'id' | 'org_id' | 'environment_id' | 'workspace' | 'kind' | 'command' | 'workdir' | 'path' | 'timeout_s' | 'status'
>;
/** What is handed to who runs it. */
export type ClaimedCommand = CommandWork & Pick<EnvironmentCommand, 'content'>;
/** What a command came to. */
export type CommandEnd = Pick<
  EnvironmentCommand,
  'id' | 'status' | 'exit_code' | 'stdout' | 'stderr' | 'timed_out' | 'truncated' | 'content' | 'error' | 'started_at' | 'finished_at'
>;
/** Which command of which environment. */
export type CommandRef = Pick<EnvironmentCommand, 'id' | 'environment_id'>;

const TABLE = 'environment_commands';
const WORK = 'id, org_id, environment_id, workspace, kind, command, workdir, path, timeout_s, status, content';
const END = 'id, status, exit_code, stdout, stderr, timed_out, truncated, content, error, started_at, finished_at';
/** What was to be put into a file is kept no longer. */
const OVER = 'finished_at = now(), content = NULL';

/** Where the call has its command already, nothing. */
export const INSERT = statement<{ id: string }>(`
  INSERT INTO ${TABLE} (id, org_id, environment_id, chat_id, turn_id, call_key, workspace, kind, command, workdir, path, content, timeout_s)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 ON CONFLICT (call_key) DO NOTHING RETURNING id`);
/** A turn that is at work, held with its chat until the transaction ends: whoever ends it comes before, or finds what was asked for. The chat first, as by them. */
export const HOLD_TURN = statement<{ id: string }>(
  `SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.org_id = $2 AND t.status = 'running' FOR SHARE OF c, t`,
);
export const BY_CALL = statement<CommandRef>(`SELECT id, environment_id FROM ${TABLE} WHERE call_key = $1 AND org_id = $2`);
export const END_OF = statement<CommandEnd>(`SELECT ${END} FROM ${TABLE} WHERE id = $1`);

/** A lease travels in milliseconds, and must be the same when it comes back. */
const LEASE = `date_trunc('milliseconds', clock_timestamp())`;

/** For a sandbox, unless its organization has so many running in some. Values: command, how many. */
export const CLAIM = statement<ClaimedCommand>(`
  UPDATE ${TABLE} c SET status = 'running', started_at = now(), heartbeat_at = now()
  WHERE c.id = $1 AND c.status = 'queued' AND (SELECT count(*) FROM ${TABLE} r WHERE r.org_id = c.org_id AND r.status = 'running' AND r.token_hash IS NULL) < $2
  RETURNING ${WORK}`);
/** The oldest of an environment that wait, for its machine. Values: environment, how many, hash of the token, socket, the lease. */
export const CLAIM_OF = statement<ClaimedCommand>(`
  WITH q AS MATERIALIZED (SELECT id FROM ${TABLE} WHERE environment_id = $1 AND status = 'queued' ORDER BY id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE ${TABLE} c SET status = 'running', started_at = now(), heartbeat_at = $5, token_hash = $3, socket_id = $4 FROM q
  WHERE c.id = q.id RETURNING ${WORK.split(', ')
    .map((column) => `c.${column}`)
    .join(', ')}`);
export const BEAT = statement<{ id: string }>(
  `UPDATE ${TABLE} SET heartbeat_at = now() WHERE id = ANY ($1::uuid[]) AND status = 'running' RETURNING id`,
);
/** The same of one command of a machine. Values: environment, command, lease before, lease after. */
export const RENEW = statement<{ id: string }>(`
  UPDATE ${TABLE} SET heartbeat_at = $4 WHERE environment_id = $1 AND id = $2 AND status = 'running' AND heartbeat_at = $3 RETURNING id`);
/** A machine that opens another socket goes on with what it has. Values: environment, socket, commands, how many. */
export const ADOPT = statement<{ id: string }>(
  `UPDATE ${TABLE} SET socket_id = $2, heartbeat_at = ${LEASE} WHERE status = 'running' AND id = ANY (ARRAY(
    SELECT id FROM ${TABLE} WHERE environment_id = $1 AND id = ANY ($3::uuid[]) AND status = 'running' ORDER BY id LIMIT $4)) RETURNING id`,
);
/** Values: organization, by which those that run are found, socket. */
export const BEAT_SOCKET = statement(
  `UPDATE ${TABLE} SET heartbeat_at = ${LEASE} WHERE org_id = $1 AND socket_id = $2 AND status = 'running'`,
);
export const STATUSES = statement<{ id: string; status: CommandStatus }>(`SELECT id, status FROM ${TABLE} WHERE id = ANY ($1::uuid[])`);
/** By environment and token. */
export const OF_TOKEN = statement<Pick<EnvironmentCommand, 'id' | 'environment_id' | 'org_id' | 'status' | 'heartbeat_at'>>(
  `SELECT id, environment_id, org_id, status, heartbeat_at FROM ${TABLE} c WHERE id = $1 AND token_hash = $2 AND ${isOfLive('c')}`,
);

/** Of the machine whose token it is, or was when it took what runs, or has ended just now. */
export const OF_ANY_TOKEN = statement<Pick<EnvironmentCommand, 'org_id'>>(`
  SELECT org_id FROM environments e WHERE token_hash = $1 AND ${isThere('e')}
  UNION ALL SELECT org_id FROM ${TABLE} c WHERE token_hash = $1 AND (status = 'running' OR finished_at > now() - interval '1 hour') AND ${isOfLive('c')} LIMIT 1`);

export const FINISH = statement<CommandRef>(`
  UPDATE ${TABLE} SET status = 'done', finished_at = now(), content = $9, exit_code = $3, stdout = $4, stderr = $5, timed_out = $6, truncated = $7, error = $8
  WHERE id = $1 AND environment_id = $2 AND status = 'running' RETURNING id, environment_id`);
const cancelled = (where: string) =>
  statement<CommandRef>(`
  UPDATE ${TABLE} SET status = 'cancelled', ${OVER}, error = $2 WHERE ${where} AND status IN ('queued', 'running') RETURNING id, environment_id`);
export const CANCEL = cancelled('id = $1');
export const CANCEL_OF_TURNS = cancelled('turn_id = ANY ($1::uuid[])');
export const CANCEL_OF_ENVIRONMENT = cancelled('environment_id = $1');
/** Nobody can say what it came to. */
export const LOSE = statement<CommandRef>(
  `UPDATE ${TABLE} SET status = 'outcome_unknown', ${OVER}, error = $2 WHERE id = $1 AND status = 'running' RETURNING id, environment_id`,
);
/** The same of those whose owner was not heard of, or is far beyond their ceiling. */
export const LOSE_SILENT = statement<CommandRef>(`
  WITH q AS MATERIALIZED (SELECT id FROM ${TABLE} WHERE status = 'running' AND (heartbeat_at < now() - interval '${HEARTBEAT_TTL_S} s' OR started_at < now() - make_interval(secs => timeout_s + ${SLACK_S}))
    ORDER BY heartbeat_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE ${TABLE} c SET status = 'outcome_unknown', ${OVER}, error = 'What ran it was lost.' FROM q
  WHERE c.id = q.id RETURNING c.id, c.environment_id`);
/** Those that wait for a machine which is not there any more. */
export const GIVE_UP_WAITING = statement<CommandRef>(`
  WITH q AS MATERIALIZED (SELECT c.id FROM ${TABLE} c JOIN environments e ON e.id = c.environment_id
    WHERE c.status = 'queued' AND e.kind = 'REMOTE_MACHINE' AND coalesce(e.connected_until, '-infinity') < now() ORDER BY c.id LIMIT $1 FOR NO KEY UPDATE OF c SKIP LOCKED)
  UPDATE ${TABLE} c SET status = 'cancelled', ${OVER}, error = 'The machine went offline before it took the command.' FROM q
  WHERE c.id = q.id RETURNING c.id, c.environment_id`);
/** Old ones lose what they wrote, with the workspaces; later they are forgotten. Those of no chat, which nobody is shown, once whoever ran them tells nothing more of them. */
export const FORGET_OUTPUT = statement<{ id: string }>(`
  UPDATE ${TABLE} SET stdout = '', stderr = '', content = NULL WHERE id IN (
    SELECT id FROM ${TABLE} WHERE finished_at < now() - interval '7 days' AND (stdout <> '' OR stderr <> '' OR content IS NOT NULL) ORDER BY finished_at LIMIT $1) RETURNING id`);
export const FORGET = statement<{ id: string }>(`
  DELETE FROM ${TABLE} WHERE id IN (
    (SELECT id FROM ${TABLE} WHERE finished_at < now() - interval '90 days' ORDER BY finished_at LIMIT $1) UNION ALL
    (SELECT id FROM ${TABLE} WHERE chat_id IS NULL AND finished_at < now() - interval '1 hour' ORDER BY finished_at LIMIT $1)) RETURNING id`);
export const WORKSPACES = statement<{ workspace: string }>(`SELECT DISTINCT workspace FROM ${TABLE} WHERE environment_id = $1`);
