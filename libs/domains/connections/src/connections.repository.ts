import { Injectable } from '@nestjs/common';
import { Connection, type ConnectionTool } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Columns, type Db, type Tx } from '@aps/platform/database';
import type { KeptTool } from './listing/terms.policy';

/** Somebody who can be told of what became of a connection, or given one. */
export interface ActiveMember {
  user_id: string;
  email: string;
}

const MEMBER = statement<ActiveMember>(`
  SELECT m.user_id, u.email FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.org_id = $1 AND m.user_id = $2 AND u.deactivated_at IS NULL FOR SHARE OF m, u`);
const EMAIL = statement<{ email: string }>('SELECT email FROM users WHERE id = $1 AND deactivated_at IS NULL');

/** Tools that are gone are remembered: as many as a server may list at once, and of this time all. */
const MAX_GONE = 500;
const REMEMBERED = `interval '30 days'`;

const TOOLS = statement<KeptTool>(`
  SELECT name, title, description, input_schema, hints, access_level, waiting FROM connection_tools WHERE org_id = $1 AND connection_id = $2`);
const WRITE_TOOLS = statement(`
  INSERT INTO connection_tools (connection_id, org_id, name, title, description, input_schema, hints, access_level, waiting)
  SELECT $2, $1, x.* FROM jsonb_to_recordset($3::jsonb) AS x(name text, title text, description text, input_schema jsonb, hints jsonb, access_level text, waiting jsonb)
  ON CONFLICT (connection_id, name) DO UPDATE SET title = excluded.title, description = excluded.description, input_schema = excluded.input_schema,
    hints = excluded.hints, access_level = excluded.access_level, waiting = excluded.waiting, gone_at = NULL, updated_at = now()`);
const LEAVE_OUT = statement(`
  UPDATE connection_tools SET gone_at = now(), updated_at = now() WHERE org_id = $1 AND connection_id = $2 AND name <> ALL($3) AND gone_at IS NULL`);
const FORGET_GONE = statement(`
  DELETE FROM connection_tools WHERE org_id = $1 AND connection_id = $2 AND name IN (
    SELECT name FROM connection_tools WHERE connection_id = $2 AND gone_at IS NOT NULL ORDER BY gone_at DESC, name OFFSET ${MAX_GONE}) AND gone_at < now() - ${REMEMBERED}`);
const DELETE_TOOLS = statement('DELETE FROM connection_tools WHERE org_id = $1 AND connection_id = $2');
const DELETE_CONSENTS = statement('DELETE FROM connection_consents WHERE org_id = $1 AND connection_id = $2');

/** Said so often at most when a connection was used last. */
const USED_EVERY = `interval '1 minute'`;
const USE = statement<Connection>(`
  WITH c AS (SELECT * FROM connections WHERE org_id = $1 AND id = $2 AND status = 'active' AND deleted_at IS NULL AND (scope = 'org' OR owner_user_id = $3)),
  u AS (UPDATE connections SET last_used_at = now() FROM c WHERE connections.id = c.id AND (c.last_used_at IS NULL OR c.last_used_at < now() - ${USED_EVERY}))
  SELECT * FROM c`);
const REFUSED = statement<Connection>(`
  UPDATE connections SET status = 'error', last_error = $4, updated_at = now() WHERE org_id = $1 AND id = $2 AND token_version = $3 AND status = 'active' AND deleted_at IS NULL
  RETURNING *`);

const DIALABLE = statement<Connection>(`
  SELECT * FROM connections WHERE org_id = $1 AND (scope = 'org' OR owner_user_id = $2) AND status NOT IN ('disabled', 'initiated') AND deleted_at IS NULL ORDER BY slug`);

// Few connections are managed, and fewer of organizations that are gone: those that are done have none.
const OF_DELETED_ORGS = statement<Pick<Connection, 'org_id' | 'id'>>(`
  SELECT c.org_id, c.id FROM connections c JOIN organizations o ON o.id = c.org_id
  WHERE c.method = 'oauth2' AND c.consent IS NOT NULL AND c.deleted_at IS NULL AND o.deleted_at IS NOT NULL AND c.id > $2 ORDER BY c.id LIMIT $1`);

/** What the end of somebody's membership leaves behind. */
export type Left = Pick<Connection, 'id' | 'org_id' | 'slug' | 'scope'>;
const LEAVE = statement<Left>(`
  UPDATE connections SET owner_user_id = NULL, status = CASE scope WHEN 'private' THEN 'disabled' ELSE status END, updated_at = now()
  WHERE owner_user_id = $1 AND ($2::uuid IS NULL OR org_id = $2) AND deleted_at IS NULL RETURNING id, org_id, slug, scope`);

/** Rows of connections and their tools. */
@Injectable()
export class ConnectionsRepository {
  private readonly rows = new OrgTable(Connection, 'Connection');

  find(db: Db, scope: OrgScope, id: string): Promise<Connection | null> {
    return this.rows.find(db, scope, id);
  }

  /** Serializes what changes one connection until the transaction ends. @throws DomainError `not_found` */
  lock(tx: Tx, scope: OrgScope, id: string): Promise<Connection> {
    return this.rows.get(tx, scope, id, 'for no key update');
  }

  /** The same, and nobody begins to name it meanwhile: for what ends it, and waits for those who have just begun. */
  lockIdentity(tx: Tx, scope: OrgScope, id: string): Promise<Connection> {
    return this.rows.get(tx, scope, id, 'for update');
  }

  /** Of a row that is locked. */
  async update(tx: Tx, scope: OrgScope, id: string, columns: Columns<Connection>): Promise<Connection> {
    return (await this.rows.update(tx, scope, id, columns))!;
  }

  /** A member who can sign in, and is one until the transaction ends. */
  async holdMember(tx: Tx, scope: OrgScope, userId: string): Promise<ActiveMember | null> {
    return (await tx.query(MEMBER, [scope.orgId, userId]))[0] ?? null;
  }

  /** Where a user can be written to; null for one who cannot sign in. */
  async emailOf(tx: Tx, userId: string): Promise<string | null> {
    return (await tx.query(EMAIL, [userId]))[0]?.email ?? null;
  }

  /** Those that the caller sees and that a server can be asked by, by slug. */
  dialable(db: Db, scope: OrgScope): Promise<Connection[]> {
    return db.query(DIALABLE, [scope.orgId, scope.userId]);
  }

  /** The connection, if it can be used on somebody's behalf now; null where not. Notes that it was. */
  async use(db: Db, scope: OrgScope, id: string, userId: string | null): Promise<Connection | null> {
    return (await db.query(USE, [scope.orgId, id, userId]))[0] ?? null;
  }

  /**
   * Its server does not take the credentials that it has, if it still has those.
   *
   * @param version of the ones that it was asked with
   * @returns it, where it was active until now
   */
  async refused(tx: Tx, scope: OrgScope, id: string, version: number, error: string): Promise<Connection | null> {
    return (await tx.query(REFUSED, [scope.orgId, id, version, error]))[0] ?? null;
  }

  /** All that were ever listed, as far as they are remembered. Of a row that is locked. */
  async tools(tx: Tx, scope: OrgScope, id: string): Promise<KeptTool[]> {
    await tx.execute(FORGET_GONE, [scope.orgId, id]);
    return tx.query(TOOLS, [scope.orgId, id]);
  }

  /** The tools that a connection has from now on. */
  async setTools(tx: Tx, scope: OrgScope, id: string, tools: readonly KeptTool[]): Promise<void> {
    const columns: (keyof ConnectionTool)[] = ['name', 'title', 'description', 'input_schema', 'hints', 'access_level', 'waiting'];
    const rows = tools.map((tool) => Object.fromEntries(columns.map((column) => [column, tool[column as keyof KeptTool]])));
    await tx.execute(WRITE_TOOLS, [scope.orgId, id, JSON.stringify(rows)]);
    await tx.execute(LEAVE_OUT, [scope.orgId, id, tools.map(({ name }) => name)]);
  }

  /** Of a row that is locked: nothing of it can be used any more, and no secret of it is kept but the tokens that are to be revoked. */
  async delete(tx: Tx, scope: OrgScope, id: string, { keepsConsent = false } = {}): Promise<void> {
    await tx.execute(DELETE_TOOLS, [scope.orgId, id]);
    await tx.execute(DELETE_CONSENTS, [scope.orgId, id]);
    await this.rows.update(tx, scope, id, { secrets: null, headers: {}, credential_hint: null, ...(!keepsConsent && { consent: null }) });
    await this.rows.delete(tx, scope, id);
  }

  /** Managed connections with an account, of organizations that are deleted: the next ones by their ids. */
  ofDeletedOrgs(db: Db, limit: number, after: string): Promise<Pick<Connection, 'org_id' | 'id'>[]> {
    return db.query(OF_DELETED_ORGS, [limit, after]);
  }

  /** Takes from somebody what they own; what was theirs alone is switched off. @param orgId null: in every organization */
  leave(tx: Tx, userId: string, orgId: string | null): Promise<Left[]> {
    return tx.query(LEAVE, [userId, orgId]);
  }
}
