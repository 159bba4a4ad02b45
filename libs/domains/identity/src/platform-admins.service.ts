import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { PlatformAdminRow, User } from '@aps/entities';
import { actingOperator, type ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import { NO_CALLER, Database, Table, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { findOwner } from './address';
import { identityConfig } from './identity.config';
import { lastAdmin, selfAction, userNotFound } from './identity.errors';
import { isNeededAdmin, lockAdmins, PLATFORM_ADMINS, type PlatformAdminView } from './platform-admins.queries';
import type { UserRow } from './users.service';

/** Who operates the platform. There is always one who can, once there was one. */
@Injectable()
export class PlatformAdminsService {
  private readonly rows = new Table(PlatformAdminRow);
  private readonly people = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly broadcaster: Broadcaster,
  ) {}

  /** In the order in which they were added. */
  list(db: Db = this.db): Promise<PlatformAdminView[]> {
    return PLATFORM_ADMINS.list(db, {});
  }

  /** Makes a registered user an administrator. @throws DomainError 404 `user_not_found`, 409 `already_admin` */
  add(actor: ActingUser, email: string): Promise<PlatformAdminView> {
    return this.db.transaction(actor, async (tx) => {
      // Who only claims the address is not the person whom the actor means.
      const user = await findOwner(tx, email);
      if (!user) throw userNotFound();
      if (!(await this.rows.insertOrNothing(tx, { user_id: user.id, added_by: actor.userId })))
        throw new DomainError('already_admin', 'This user is a platform administrator already.');
      await this.record(tx, actor, 'platform_admin.added', user);
      return PLATFORM_ADMINS.get(tx, user.id, {});
    });
  }

  /** @throws DomainError 422 `self_action`, 404 `user_not_found`, 409 `last_admin` */
  remove(actor: ActingUser, userId: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      if (actor.userId === userId) throw selfAction('You cannot remove yourself.');
      await lockAdmins(tx);
      if (await isNeededAdmin(tx, userId)) throw lastAdmin();
      const removed = await this.rows.delete(tx, { user_id: userId });
      const user = removed && (await this.people.find(tx, userId));
      if (!user) throw userNotFound();
      await this.record(tx, actor, 'platform_admin.removed', user);
      tx.afterCommit(() => this.broadcaster.sent('access.changed', { user_id: userId, org_id: null }));
    });
  }

  /** Who has proven the address that the configuration names becomes an administrator. */
  async onProof(tx: Tx, user: UserRow, requestId?: string): Promise<void> {
    if (!isBootstrapAdmin(user.email) || !(await this.rows.insertOrNothing(tx, { user_id: user.id }))) return;
    await this.record(tx, actingOperator(user.id, { requestId }), 'platform_admin.added', user, { bootstrap: true });
  }

  /**
   * The same for a user who signed up before the configuration named them; only as long as there is no administrator at all, so
   * that running it again undoes nobody's decision.
   */
  ensureBootstrapAdmin(): Promise<void> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const email = identityConfig.value.bootstrapAdminEmail;
      await lockAdmins(tx);
      const user = email === undefined || (await this.rows.count(tx, {})) > 0 ? null : await findOwner(tx, email);
      if (user) await this.onProof(tx, user);
    });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, user: UserRow, facts: Record<string, unknown> = {}): Promise<void> {
    await this.audit.record(tx, actor, action, { kind: 'user', id: user.id }, { email: user.email, ...facts });
  }
}

/** Whether the configuration names the address as the first administrator's. */
export function isBootstrapAdmin(email: string): boolean {
  const { bootstrapAdminEmail } = identityConfig.value;
  return bootstrapAdminEmail !== undefined && canonicalEmail(bootstrapAdminEmail) === canonicalEmail(email);
}
