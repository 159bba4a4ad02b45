import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Audit } from '@aps/platform/audit';
import { NO_CALLER, Database, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { actingOperator, type ActingUser } from '@aps/guards';
import { ownsAddress } from './email-proof.policy';
import { identityConfig } from './identity.config';
import { lastAdmin, selfAction, userNotFound } from './identity.errors';
import { PlatformAdminsRepository, type PlatformAdminView } from './platform-admins.repository';
import { UsersRepository, type UserRow } from './users.repository';

/** Who operates the platform. There is always one who can, once there was one. */
@Injectable()
export class PlatformAdminsService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly admins: PlatformAdminsRepository,
    private readonly users: UsersRepository,
  ) {}

  /** In the order in which they were added. */
  list(db: Db = this.db): Promise<PlatformAdminView[]> {
    return this.admins.list(db);
  }

  /**
   * Makes a registered user an administrator.
   *
   * @throws DomainError 404 `user_not_found`, 409 `already_admin`
   */
  add(actor: ActingUser, email: string): Promise<PlatformAdminView> {
    return this.db.transaction(actor, async (tx) => {
      const user = await this.users.byEmail(tx, email);
      // Who only claims the address is not the person whom the actor means.
      if (!user || !ownsAddress(identityConfig.value.emailProof, user)) throw userNotFound();
      if (!(await this.admins.insert(tx, user.id, actor.userId)))
        throw new DomainError('already_admin', 'This user is a platform administrator already.');
      await this.record(tx, actor, 'platform_admin.added', user);
      return this.admins.byId(tx, user.id);
    });
  }

  /** @throws DomainError 422 `self_action`, 404 `user_not_found`, 409 `last_admin` */
  remove(actor: ActingUser, userId: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      if (actor.userId === userId) throw selfAction('You cannot remove yourself.');
      await this.admins.lock(tx);
      const user = (await this.admins.isAdmin(tx, userId)) ? await this.users.byId(tx, userId) : null;
      if (!user) throw userNotFound();
      if (!(await this.admins.othersCanAct(tx, userId))) throw lastAdmin();
      await this.admins.remove(tx, userId);
      await this.record(tx, actor, 'platform_admin.removed', user);
    });
  }

  /** Who has proven the address that the configuration names becomes an administrator. */
  async onProof(tx: Tx, user: UserRow, requestId?: string): Promise<void> {
    if (!isBootstrapAdmin(user.email) || !(await this.admins.insert(tx, user.id, null))) return;
    await this.record(tx, actingOperator(user.id, { requestId }), 'platform_admin.added', user, { bootstrap: true });
  }

  /**
   * The same for a user who signed up before the configuration named them; only as long as there is no administrator at all, so
   * that running it again undoes nobody's decision.
   */
  ensureBootstrapAdmin(db: Db = this.db): Promise<void> {
    return db.transaction(NO_CALLER, async (tx) => {
      const email = identityConfig.value.bootstrapAdminEmail;
      await this.admins.lock(tx);
      const user = email === undefined || (await this.admins.exist(tx)) ? null : await this.users.byEmail(tx, email);
      if (user && ownsAddress(identityConfig.value.emailProof, user)) await this.onProof(tx, user);
    });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, user: UserRow, metadata: Record<string, unknown> = {}): Promise<void> {
    await this.audit.record(tx, actor, action, { kind: 'user', id: user.id }, { email: user.email, ...metadata });
  }
}

/** Whether the configuration names the address as the first administrator's. */
export function isBootstrapAdmin(email: string): boolean {
  const { bootstrapAdminEmail } = identityConfig.value;
  return bootstrapAdminEmail !== undefined && canonicalEmail(bootstrapAdminEmail) === canonicalEmail(email);
}
