import type { Environment, SandboxHost } from '@aps/entities';
import { isOfLive } from '@aps/guards';
import { statement } from '@aps/platform/database';
import { appendEvent } from '@aps/platform/realtime';
import type { EnvironmentStatus } from './environments.policy';

/** Processes that run sandboxes, as long as they say so. */
const HOSTS = `sandbox_hosts h WHERE h.seen_at > now() - interval '2 minutes'`;

/** Whether an environment is there, which is gone with its organization. @param e a row of `environments` */
export const isThere = (e: string): string => `${e}.deleted_at IS NULL AND ${isOfLive(e)}`;

/** How an environment stands. @param e a row of `environments` */
export const statusOf = (e: string): string => `CASE ${e}.kind
    WHEN 'REMOTE_MACHINE' THEN CASE WHEN ${e}.last_seen_at IS NULL THEN 'pending' WHEN ${e}.connected_until > now() THEN 'online' ELSE 'offline' END
    WHEN 'CUSTOM_IMAGE' THEN ${e}.image_state
    ELSE CASE WHEN (SELECT bool_and(h.isolation IS NULL) FROM ${HOSTS}) THEN 'offline' ELSE 'online' END END`;
/** What isolates there; null where nobody has said so. */
export const isolationOf = (e: string): string =>
  `CASE WHEN ${e}.kind <> 'REMOTE_MACHINE' THEN (SELECT max(h.isolation) FROM ${HOSTS}) END`;
/** Why nothing isolates where sandboxes are run; null where something does. */
export const problemOf = (e: string): string =>
  `CASE WHEN ${e}.kind <> 'REMOTE_MACHINE' THEN (SELECT max(h.problem) FROM ${HOSTS} AND h.isolation IS NULL) END`;

export interface EnvironmentUpdate extends Record<string, unknown> {
  environment_id: string;
  status: EnvironmentStatus;
  connected: boolean;
}
/**
 * Tells of an environment as it is now, on its topic and on its organization's, whose row is locked last.
 */
export const TELL = statement<{ org_id: string; before: number; org_before: number; data: EnvironmentUpdate }>(`
  WITH e AS (UPDATE environments e SET event_seq = e.event_seq + 1, told_connected = coalesce(e.connected_until > now(), false) WHERE e.id = $1
    RETURNING e.id, e.org_id, e.event_seq - 1 AS before, ${statusOf('e')} AS status
  ), o AS (UPDATE organizations o SET event_seq = o.event_seq + 1 FROM e WHERE o.id = e.org_id RETURNING o.event_seq - 1 AS before
  ), told AS MATERIALIZED (SELECT e.org_id, e.before, o.before AS org_before, jsonb_build_object('environment_id', e.id, 'status', e.status, 'connected', e.status = 'online') AS data FROM e CROSS JOIN o
  ), a AS (${appendEvent({ from: 'told x', topic: `'env:' || $1::uuid`, orgId: 'x.org_id', after: 'x.before', type: 'environment_updated', data: 'x.data', at: '$2::timestamptz' })}
  ), b AS (${appendEvent({ from: 'told x', topic: `'org:' || x.org_id`, orgId: 'x.org_id', after: 'x.org_before', type: 'environment_updated', data: 'x.data', at: '$2::timestamptz' })}
  )
  SELECT org_id, before, org_before, data FROM told`);

/** Machines that readers still take for connected. */
export const GONE_SILENT = statement<{ id: string }>(
  'SELECT id FROM environments WHERE told_connected AND (connected_until < now() OR deleted_at IS NOT NULL) ORDER BY connected_until LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED',
);

export const OF_TOKEN = statement<Pick<Environment, 'id' | 'org_id' | 'last_seen_at'>>(
  `SELECT id, org_id, last_seen_at FROM environments e WHERE token_hash = $1 AND ${isThere('e')}`,
);
/** A machine was heard of. Values: environment, seconds until it counts as gone, what it says of itself, its token. The lease is in milliseconds, as it travels. */
export const SEEN = statement<Pick<Environment, 'last_seen_at' | 'told_connected'>>(`
  UPDATE environments e SET last_seen_at = date_trunc('milliseconds', clock_timestamp()), connected_until = now() + make_interval(secs => $2), machine = coalesce($3, machine)
  WHERE id = $1 AND ${isThere('e')} AND token_hash = $4 RETURNING last_seen_at, told_connected`);
/** The same where its lease is still the one that is named. */
export const RENEWED = statement<Pick<Environment, 'last_seen_at' | 'told_connected'>>(`
  UPDATE environments e SET last_seen_at = date_trunc('milliseconds', clock_timestamp()), connected_until = now() + make_interval(secs => $2)
  WHERE id = $1 AND ${isThere('e')} AND last_seen_at = $3 RETURNING last_seen_at, told_connected`);
/** Opens a socket, which takes over. Values: environment, socket, what the machine says of itself, its token, seconds until it counts as gone. */
export const CONNECT = statement<{ told_connected: boolean }>(`
  UPDATE environments e SET socket_id = $2, machine = $3, last_seen_at = date_trunc('milliseconds', clock_timestamp()), connected_until = now() + make_interval(secs => $5)
  WHERE id = $1 AND token_hash = $4 AND ${isThere('e')} RETURNING told_connected`);
/** Of a socket that is still the one. Values: environment, socket, seconds. */
export const SOCKET_SEEN = statement<{ told_connected: boolean }>(`
  UPDATE environments e SET last_seen_at = date_trunc('milliseconds', clock_timestamp()), connected_until = now() + make_interval(secs => $3)
  WHERE id = $1 AND socket_id = $2 AND ${isThere('e')} RETURNING told_connected`);
/** Of sockets, by environment and id, and of the commands that their machines are at: the environments where something has changed. */
export const TO_LOOK_AT = statement<{ id: string }>(`
  SELECT s.id FROM unnest($1::uuid[], $2::uuid[]) AS s (id, socket_id)
  WHERE NOT EXISTS (SELECT FROM environments e WHERE e.id = s.id AND e.socket_id = s.socket_id AND ${isThere('e')})
    OR EXISTS (SELECT FROM environment_commands c WHERE c.environment_id = s.id AND c.status = 'queued')
  UNION SELECT environment_id FROM environment_commands WHERE id = ANY ($3::uuid[]) AND status <> 'running'`);
export const DISCONNECT = statement<{ id: string }>(
  'UPDATE environments SET connected_until = now(), socket_id = NULL WHERE id = $1 AND socket_id = $2 RETURNING id',
);

/** How many validations of an organization were begun before one. */
export const VALIDATIONS_BEFORE = statement<{ n: number }>(
  `SELECT count(*)::int AS n FROM environments WHERE org_id = $1 AND image_state = 'validating' AND probe_id < $2 AND deleted_at IS NULL`,
);
/** Values: environment, its validation, state, digest, what was found. A newer validation wins. */
export const VALIDATED = statement<{ id: string }>(`
  UPDATE environments SET probe_id = NULL, image_state = $3, image_digest = coalesce($4, image_digest), validation = $5, updated_at = now()
  WHERE id = $1 AND probe_id = $2 AND deleted_at IS NULL RETURNING id`);

/** Of digests, those that an environment names. */
export const NAMED_IMAGES = statement<{ digest: string }>(
  `SELECT DISTINCT coalesce(e.image_digest, '') AS digest FROM environments e
  WHERE e.kind = 'CUSTOM_IMAGE' AND e.image_digest = ANY ($1::text[]) AND ${isThere('e')}`,
);

/** Whose job is gone: it has failed too often, which says nothing of an image that was fine. Values: how many, when. */
export const GIVE_UP_VALIDATIONS = statement<{ id: string }>(`
  WITH q AS MATERIALIZED (SELECT e.id, (e.validation->>'is_fine')::boolean IS TRUE AND e.validation->>'digest' IS NOT DISTINCT FROM e.image_digest AS is_fine FROM environments e WHERE e.image_state = 'validating' AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = e.probe_id) AND e.deleted_at IS NULL
    ORDER BY e.id LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE environments e SET image_state = CASE WHEN q.is_fine THEN 'online' ELSE 'invalid' END, probe_id = NULL, updated_at = now(),
    validation = CASE WHEN q.is_fine THEN e.validation ELSE '{"digest": null, "size_bytes": null}' END || jsonb_build_object('checks', jsonb_build_array(jsonb_build_object('name', 'probe', 'ok', false, 'detail', 'It could not be validated to its end. Try again.')),
      'validated_at', $2::text)
  FROM q WHERE e.id = q.id RETURNING e.id`);

export const HOST_SEEN = statement(`
  INSERT INTO sandbox_hosts (id, isolation, problem, seen_at) VALUES ($1, $2, $3, now())
  ON CONFLICT (id) DO UPDATE SET isolation = excluded.isolation, problem = excluded.problem, seen_at = excluded.seen_at`);
/** Another than $1 where something isolates. */
export const HOST_ELSEWHERE = statement<Pick<SandboxHost, 'id'>>(
  `SELECT h.id FROM ${HOSTS} AND h.isolation IS NOT NULL AND h.id <> $1 LIMIT 1`,
);
export const HOST_GONE = statement('DELETE FROM sandbox_hosts WHERE id = $1');
export const FORGET_HOSTS = statement<Pick<SandboxHost, 'id'>>(
  `DELETE FROM sandbox_hosts WHERE seen_at < now() - interval '1 day' RETURNING id`,
);
