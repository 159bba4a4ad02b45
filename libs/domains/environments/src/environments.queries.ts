import { Injectable } from '@nestjs/common';
import { isUuid } from '@aps/contracts';
import type { Environment, EnvironmentCommand } from '@aps/entities';
import { chatSeenBy, type OrgScope } from '@aps/guards';
import { Database, mapListed, OrgListing, statement, type Db, type Listed, type Slice, type Tenant, type Tx } from '@aps/platform/database';
import type { EnvironmentStatus } from './environments.policy';
import { isolationOf, isThere, problemOf, statusOf } from './environments.sql';

/** An environment without what nobody may read. */
export interface EnvironmentView extends Omit<
  Environment,
  'token_hash' | 'token' | 'probe_id' | 'socket_id' | 'told_connected' | 'deleted_at'
> {
  status: EnvironmentStatus;
  isolation: 'pod' | 'container' | 'namespaces' | 'none' | null;
  problem: string | null;
}

/** A command as the caller sees it. */
export type Activity = Pick<EnvironmentCommand, 'id' | 'chat_id' | 'status' | 'exit_code' | 'started_at' | 'timed_out' | 'truncated'> & {
  command_preview: string | null;
  duration_ms: number | null;
};

export interface UsingAgent {
  id: string;
  name: string;
}
export interface UsingChat {
  id: string;
  agent_id: string;
  title: string | null;
}

const COLUMNS = [
  ...['id', 'org_id', 'kind', 'name', 'exec_timeout_requested_s', 'image_ref', 'image_digest', 'image_state', 'validation', 'machine'],
  ...['last_seen_at', 'connected_until', 'event_seq', 'created_by', 'created_at', 'updated_at'],
]
  .map((column) => `e.${column}`)
  .join(', ');

const VIEWS = new OrgListing<EnvironmentView, object>({
  key: 'e.id',
  org: 'e.org_id',
  select: `${COLUMNS}, ${statusOf('e')} AS status, ${isolationOf('e')} AS isolation, ${problemOf('e')} AS problem`,
  from: 'environments e',
  always: 'e.deleted_at IS NULL',
  order: `(e.kind <> 'BUILTIN_SANDBOX'), e.created_at, e.id`,
  what: 'Environment',
});

const ACTIVITY = new OrgListing<Activity, { environment_id: string }>({
  key: 'k.id',
  org: 'k.org_id',
  select: `k.id, k.status, k.exit_code, k.started_at, k.timed_out, k.truncated, k.chat_id, left(coalesce(k.command, k.kind || ' ' || k.path), 200) AS command_preview,
    (extract(epoch FROM k.finished_at - k.started_at) * 1000)::int AS duration_ms`,
  from: 'environment_commands k',
  always: 'k.chat_id IS NOT NULL',
  where: { environment_id: 'k.environment_id = $' },
  order: 'k.id DESC',
});
const CHATS_SEEN = statement<{ id: string }>(
  `SELECT c.id FROM chats c WHERE c.id = ANY ($2::uuid[]) AND c.org_id = $1 AND c.deleted_at IS NULL AND ${chatSeenBy('$3')}`,
);

const EXISTING = statement<{ id: string }>(
  'SELECT id FROM environments WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE',
);
/** Where commands of a chat run: in its own environment, in its agent's, or else, where it may, in the built-in one. Values: chat, agent's. */
const PLACE = statement<{ id: string; root_chat_id: string }>(`
  SELECT e.id, coalesce(c.root_chat_id, c.id) AS root_chat_id FROM chats c
  JOIN environments e ON e.org_id = c.org_id AND e.deleted_at IS NULL AND (e.id = c.environment_id OR e.id = $2 OR (c.sandbox_enabled AND e.kind = 'BUILTIN_SANDBOX'))
  WHERE c.id = $1 AND c.sandbox_enabled IS NOT FALSE
  ORDER BY (e.id IS NOT DISTINCT FROM c.environment_id) DESC, (e.id IS NOT DISTINCT FROM $2) DESC LIMIT 1`);
const STATES = statement<Pick<EnvironmentView, 'id' | 'org_id' | 'event_seq' | 'status'>>(
  `SELECT e.id, e.org_id, e.event_seq, ${statusOf('e')} AS status FROM environments e WHERE e.id = ANY ($1::uuid[]) AND ${isThere('e')}`,
);
/** Those whose draft names it, or a revision that new chats run on: the live one, or an arm of a running experiment. */
const AGENTS = statement<UsingAgent>(`
  SELECT a.id, a.name FROM agents a WHERE a.org_id = $1 AND a.deleted_at IS NULL AND (a.environment_id = $2 OR EXISTS (
    SELECT 1 FROM agent_revisions r WHERE r.config->>'environment_id' = ($2::uuid)::text AND r.id IN (
      SELECT a.live_revision_id UNION
      SELECT (arm->>'revision_id')::uuid FROM rollouts o CROSS JOIN LATERAL jsonb_array_elements(o.arms) AS arm WHERE o.agent_id = a.id AND o.status = 'running')))
  ORDER BY a.name, a.id LIMIT $3`);
const CHATS = statement<UsingChat>(`
  SELECT c.id, c.agent_id, c.title FROM chats c WHERE c.environment_id = $2 AND c.org_id = $1 AND c.deleted_at IS NULL AND ${chatSeenBy('$3')} ORDER BY c.id DESC LIMIT $4`);
const HIDDEN_CHATS = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM chats c WHERE c.environment_id = $2 AND c.org_id = $1 AND c.deleted_at IS NULL AND NOT ${chatSeenBy('$3')}`);

/** Of each, so many are told who uses an environment. */
const MAX_USERS = 1_000;

/** Reads environments. Never writes. */
@Injectable()
export class EnvironmentsQueries {
  constructor(private readonly db: Database) {}

  /** The built-in one first, then in the order in which they were made. */
  list(scope: OrgScope, page: Slice): Promise<Listed<EnvironmentView>> {
    return VIEWS.page(this.db, scope, {}, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: Tenant, id: string, db: Db = this.db): Promise<EnvironmentView> {
    return VIEWS.get(db, scope, id, {});
  }

  /** Null for one that is gone. */
  find(scope: Tenant, id: string): Promise<EnvironmentView | null> {
    return VIEWS.find(this.db, scope, id, {});
  }

  /** Newest first; of chats that the caller may not open, neither which one nor what. */
  async activity(scope: OrgScope, id: string, page: Slice): Promise<Listed<Activity>> {
    await this.get(scope, id);
    const commands = await ACTIVITY.page(this.db, scope, { environment_id: id }, page);
    return mapListed(commands, async (items) => {
      const chats = items.map(({ chat_id }) => chat_id);
      const seen = new Set((await this.db.query(CHATS_SEEN, [scope.orgId, chats, scope.actor.userId])).map((chat) => chat.id));
      return items.map((item) => (seen.has(item.chat_id!) ? item : { ...item, chat_id: null, command_preview: null }));
    });
  }

  /** Who would run commands there, or will when the draft goes live. */
  async usage(scope: OrgScope, id: string): Promise<{ agents: UsingAgent[]; chats: UsingChat[]; hidden_chat_count: number }> {
    await this.get(scope, id);
    const { orgId } = scope;
    const reader = scope.actor.userId;
    const [agents, chats, [hidden]] = await Promise.all([
      this.db.query(AGENTS, [orgId, id, MAX_USERS]),
      this.db.query(CHATS, [orgId, id, reader, MAX_USERS]),
      this.db.query(HIDDEN_CHATS, [orgId, id, reader]),
    ]);
    return { agents, chats, hidden_chat_count: hidden.n };
  }

  /** Whether there is such an environment; it is held until the transaction ends. */
  async holds(tx: Tx, { orgId }: Tenant, id: string): Promise<boolean> {
    return isUuid(id) && (await tx.query(EXISTING, [orgId, id])).length > 0;
  }

  /** Where the commands of a chat run; null: nowhere. @param ofAgent the environment that its agent names */
  async placeOf(chatId: string, ofAgent: string | null): Promise<{ id: string; root_chat_id: string } | null> {
    return (await this.db.query(PLACE, [chatId, ofAgent]))[0] ?? null;
  }

  /** Of whichever organizations, those that are there. */
  states(ids: readonly string[]): Promise<Pick<EnvironmentView, 'id' | 'org_id' | 'event_seq' | 'status'>[]> {
    return this.db.query(STATES, [ids.filter(isUuid)]);
  }
}
