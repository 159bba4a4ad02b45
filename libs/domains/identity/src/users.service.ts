import { Injectable, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { User } from '@aps/entities';
import { Audit } from '@aps/platform/audit';
import { Database, isUniqueViolation, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { ActingUser } from '@aps/guards';
import { ownsAddress } from './email-proof.policy';
import { identityConfig } from './identity.config';
import { emailTaken, lastAdmin, selfAction, userNotFound } from './identity.errors';
import { OrganizationDoor } from './organization-door';
import { PlatformAdminsRepository } from './platform-admins.repository';
import { SessionsRepository } from './sessions.repository';
import { UsersRepository, type UserRow, type UserWithHash } from './users.repository';

/** What became of a user, and the organizations that have no other owner. */
export interface UserStatusChange {
  user: UserRow;
  sole_owner_org_ids: string[];
  /** False when the user was in that state already. */
  changed: boolean;
}

/** The people of the platform. */
@Injectable()
export class UsersService implements OnModuleInit {
  private orgs: OrganizationDoor;

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly moduleRef: ModuleRef,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly admins: PlatformAdminsRepository,
  ) {}

  /** Not injected: what stands behind the door needs this service itself. */
  onModuleInit(): void {
    this.orgs = this.moduleRef.get(OrganizationDoor, { strict: false });
  }

  /** By the canonical form of the address. */
  findByEmail(db: Db, email: string): Promise<UserRow | null> {
    return this.users.byEmail(db, email);
  }

  /** The user to whom what is meant for an address may be given; null while they have not proven that it is theirs. */
  async findOwner(db: Db, email: string): Promise<UserRow | null> {
    const user = await this.users.byEmail(db, email);
    return user && ownsAddress(identityConfig.value.emailProof, user) ? user : null;
  }

  /** @throws DomainError 404 `user_not_found` */
  async get(db: Db, id: string): Promise<UserRow> {
    const user = await this.users.byId(db, id);
    if (!user) throw userNotFound();
    return user;
  }

  /**
   * Makes a user. Whether the address may have one, and is known to be theirs, is the caller's decision; hash the password before the
   * transaction.
   *
   * @throws DomainError 409 `email_taken`; the transaction is lost then
   */
  async create(tx: Tx, user: Pick<User, 'email' | 'name' | 'password_hash'> & { proven: boolean }): Promise<UserRow> {
    try {
      return await this.users.insert(tx, { id: uuidv7(), ...user });
    } catch (error) {
      throw isUniqueViolation(error, 'users_email') ? emailTaken() : error;
    }
  }

  /** Changes what is given of the profile. */
  updateProfile(actor: ActingUser, change: { name?: string; avatar_url?: string | null }): Promise<UserRow> {
    return this.db.transaction(actor, async (tx) => {
      const user = await this.lock(tx, actor.userId);
      return this.users.setProfile(tx, user.id, {
        name: change.name ?? user.name,
        avatar_url: change.avatar_url === undefined ? user.avatar_url : change.avatar_url,
      });
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
      await this.admins.lock(tx);
      const before = await this.lock(tx, userId);
      if (!before.deactivated_at && (await this.admins.isAdmin(tx, userId)) && !(await this.admins.othersCanAct(tx, userId)))
        throw lastAdmin();
      return this.setDeactivated(tx, actor, before, true);
    });
  }

  /**
   * Lets a user in again. API tokens work again, sessions stay ended.
   *
   * @throws DomainError 404 `user_not_found`
   */
  reactivate(actor: ActingUser, userId: string): Promise<UserStatusChange> {
    return this.db.transaction(actor, async (tx) => this.setDeactivated(tx, actor, await this.lock(tx, userId), false));
  }

  private async setDeactivated(
    tx: Tx,
    actor: ActingUser,
    { password_hash: _, ...before }: UserWithHash,
    deactivated: boolean,
  ): Promise<UserStatusChange> {
    const sole_owner_org_ids = await this.orgs.soleOwnerOf(tx, before.id);
    if ((before.deactivated_at !== null) === deactivated) return { user: before, sole_owner_org_ids, changed: false };
    const user = await this.users.setDeactivated(tx, before.id, deactivated);
    if (deactivated) await this.sessions.endAllOf(tx, before.id);
    await this.audit.record(
      tx,
      actor,
      deactivated ? 'user.deactivated' : 'user.reactivated',
      { kind: 'user', id: before.id },
      { email: before.email, ...(deactivated && { sole_owner_org_ids }) },
    );
    return { user, sole_owner_org_ids, changed: true };
  }

  private async lock(tx: Tx, userId: string): Promise<UserWithHash> {
    const user = await this.users.lock(tx, userId);
    if (!user) throw userNotFound();
    return user;
  }
}
