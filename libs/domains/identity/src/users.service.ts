import { Injectable } from '@nestjs/common';
import { User } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, isUniqueViolation, now, Table, type Db, type Tx } from '@aps/platform/database';
import { parseEmail } from '@aps/platform/email';
import { ofAddress } from './address';
import { Departures } from './departures';
import { emailTaken, lastAdmin, selfAction, userNotFound } from './identity.errors';
import { OrganizationPort, type MembershipSummary } from './organization-port';
import { isNeededAdmin, lockAdmins } from './platform-admins.queries';
import { SessionsRepository } from './sessions.repository';

/** A user as everybody but who compares passwords sees them. Answers are made of fields that are named. */
export type UserRow = Omit<User, 'password_hash'>;

/** A user, and where they are a member. */
export interface UserInOrgs {
  user: UserRow;
  memberships: MembershipSummary[];
}

/** What became of a user, and the organizations that have no other owner. */
export interface UserStatusChange {
  user: UserRow;
  sole_owner_org_ids: string[];
  /** False when the user was in that state already. */
  changed: boolean;
}

/** The people of the platform. */
@Injectable()
export class UsersService {
  private readonly users = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly sessions: SessionsRepository,
    private readonly orgs: OrganizationPort,
    private readonly departures: Departures,
  ) {}

  /** By the canonical form of the address. */
  findByEmail(db: Db, email: string): Promise<UserRow | null> {
    return this.users.find(db, ofAddress(email));
  }

  /**
   * Makes a user. Whether the address may have one, and is known to be theirs, is the caller's decision; hash the password before the
   * transaction.
   *
   * @throws DomainError 409 `email_taken`; the transaction is lost then
   */
  async create(tx: Tx, { proven, ...user }: Pick<User, 'email' | 'name' | 'password_hash'> & { proven: boolean }): Promise<UserRow> {
    const address = { email_canonical: parseEmail(user.email)?.canonical, email_verified_at: proven ? now : null };
    try {
      return await this.users.insert(tx, { ...user, ...address });
    } catch (error) {
      throw isUniqueViolation(error, 'users_email') ? emailTaken() : error;
    }
  }

  /** Changes what is given of the profile. */
  updateProfile(actor: ActingUser, { name, avatar_url }: { name?: string; avatar_url?: string | null }): Promise<UserRow> {
    return this.db.transaction(actor, async (tx) => {
      const user = await this.users.update(tx, actor.userId, { name, avatar_url });
      if (!user) throw userNotFound();
      return user;
    });
  }

  /**
   * Shuts a user out: sessions end, API tokens are refused as long as it lasts.
   *
   * @throws DomainError 422 `self_action`, 404 `user_not_found`, 409 `last_admin` when nobody could administer the platform any more
   */
  deactivate(actor: ActingUser, userId: string): Promise<UserStatusChange> {
    return this.db.transaction(actor, async (tx) => {
      if (actor.userId === userId) throw selfAction('You cannot deactivate yourself.');
      // Two administrators who deactivate each other at the same moment must not leave the platform without one.
      await lockAdmins(tx);
      return this.setActive(tx, actor, userId, false);
    });
  }

  /** Lets a user in again. API tokens work again, sessions stay ended. @throws DomainError 404 `user_not_found` */
  reactivate(actor: ActingUser, userId: string): Promise<UserStatusChange> {
    return this.db.transaction(actor, (tx) => this.setActive(tx, actor, userId, true));
  }

  private async setActive(tx: Tx, actor: ActingUser, id: string, active: boolean): Promise<UserStatusChange> {
    // Another owner who leaves meanwhile must see that this one is none any more, or be seen, also where they have just made them one. Before
    // the user's row: what members change asks for it under such a lock.
    if (!active) await this.orgs.lockRosters(tx, id);
    const before = await this.users.find(tx, id, 'for no key update');
    if (!before) throw userNotFound();
    const changed = (before.deactivated_at === null) !== active;
    if (changed && !active && (await isNeededAdmin(tx, id))) throw lastAdmin();
    const sole_owner_org_ids = await this.orgs.soleOwnerOf(tx, id);
    if (!changed) return { user: before, sole_owner_org_ids, changed };
    const user = (await this.users.update(tx, id, { deactivated_at: active ? null : now }))!;
    if (!active) {
      await this.sessions.endAllOf(tx, id);
      await this.departures.tell(tx, { userId: id, orgId: null, author: actor });
    }
    const facts = { email: user.email, ...(!active && { sole_owner_org_ids }) };
    await this.audit.record(tx, actor, active ? 'user.reactivated' : 'user.deactivated', id, facts);
    return { user, sole_owner_org_ids, changed };
  }
}
