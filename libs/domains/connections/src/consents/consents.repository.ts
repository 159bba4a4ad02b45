import { Injectable } from '@nestjs/common';
import { ConnectionConsent, type Connection } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Columns, type Db, type Tx } from '@aps/platform/database';

/** Somebody who may decide on a connection, as they are now. */
export interface Decider {
  email: string;
  is_admin: boolean;
}

// Who takes one has it alone: a state is good once.
const TAKE = statement<ConnectionConsent>(`
  DELETE FROM connection_consents WHERE state_hash = $1 AND expires_at > now() AND browser_hash IS NOT NULL RETURNING *`);
const TAKE_CONFIRMED = statement<ConnectionConsent>(`
  DELETE FROM connection_consents WHERE state_hash = $1 AND expires_at > now() AND browser_hash IS NULL AND org_id = $2 AND connection_id = $3 AND user_id = $4 RETURNING *`);
const FORGET_OLD = statement(`DELETE FROM connection_consents WHERE org_id = $1 AND (connection_id = $2 OR expires_at <= now())`);

// A membership of an organization that is gone has no name any more; whoever deletes one writes it, and is waited for by that.
const DECIDER = statement<Decider>(`
  SELECT u.email, m.role IN ('ADMIN', 'OWNER') AS is_admin FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.org_id = $1 AND m.user_id = $2 AND u.deactivated_at IS NULL AND m.sort_name IS NOT NULL FOR SHARE OF m, u`);

/** Only who has seen this version, and while nobody else is at it. */
const BEGIN_REFRESH = statement(`
  UPDATE connections SET refreshing_until = now() + make_interval(secs => $4)
  WHERE org_id = $1 AND id = $2 AND token_version = $3 AND (refreshing_until IS NULL OR refreshing_until <= now()) AND deleted_at IS NULL`);

const LEFT = statement<Connection>(
  `SELECT * FROM connections WHERE org_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND consent IS NOT NULL`,
);
const DROP_LEFT = statement(`UPDATE connections SET consent = NULL WHERE org_id = $1 AND id = $2 AND deleted_at IS NOT NULL`);

/** Rows of those who are asked to consent, and of what they have consented to. */
@Injectable()
export class ConsentsRepository {
  private readonly rows = new OrgTable(ConnectionConsent);

  /** One at a time of a connection: what was asked before is good for nothing any more. */
  async add(tx: Tx, scope: OrgScope, columns: Columns<ConnectionConsent> & { connection_id: string }): Promise<void> {
    await tx.execute(FORGET_OLD, [scope.orgId, columns.connection_id]);
    await this.rows.insert(tx, scope, columns);
  }

  /** The consent that somebody comes back with. Nobody finds it again. */
  async take(tx: Tx, stateHash: Buffer): Promise<ConnectionConsent | null> {
    return (await tx.query(TAKE, [stateHash]))[0] ?? null;
  }

  /** The same of one who has come back without what their browser was given. */
  async takeConfirmed(tx: Tx, scope: OrgScope, connectionId: string, stateHash: Buffer): Promise<ConnectionConsent | null> {
    return (await tx.query(TAKE_CONFIRMED, [stateHash, scope.orgId, connectionId, scope.userId]))[0] ?? null;
  }

  /** A member of an organization that is there, who can sign in, and is one until the transaction ends. */
  async decider(tx: Tx, scope: OrgScope, userId: string): Promise<Decider | null> {
    return (await tx.query(DECIDER, [scope.orgId, userId]))[0] ?? null;
  }

  /** A connection that is deleted, whose tokens are still to be revoked. */
  async left(db: Db, orgId: string, id: string): Promise<Connection | null> {
    return (await db.query(LEFT, [orgId, id]))[0] ?? null;
  }

  /** Forgets its tokens. */
  async dropLeft(db: Db, orgId: string, id: string): Promise<void> {
    await db.execute(DROP_LEFT, [orgId, id]);
  }

  /** Whether the caller alone refreshes the tokens of this version, for so many seconds. */
  async beginRefresh(db: Db, { org_id, id, token_version }: Connection, seconds: number): Promise<boolean> {
    return (await db.execute(BEGIN_REFRESH, [org_id, id, token_version, seconds])) > 0;
  }
}
