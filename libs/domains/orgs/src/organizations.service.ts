import { Injectable } from '@nestjs/common';
import { DomainError, slugsFor } from '@aps/contracts';
import { Membership, Organization, User } from '@aps/entities';
import { type ActingUser, OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import {
  advisoryLock,
  changesOf,
  Database,
  now,
  OrgTable,
  refusingTakenSlug,
  Table,
  takingSlug,
  type Db,
  type Tx,
} from '@aps/platform/database';
import { IsNull, Not } from 'typeorm';
import { REVOKE_PENDING } from './invitations.repository';
import { ownerNeeded } from './members.policy';
import { OrgLimits } from './org-limits';
import { COUNT_OWNED } from './members.queries';
import { OrganizationsQueries, type OrganizationView } from './organizations.queries';
import { orgsConfig } from './orgs.config';
import { Roster } from './roster';
import { FORGET_SLUGS, KEEP_SLUG, TAKEN_SLUGS } from './slugs.sql';

export interface OrganizationSuspension extends Organization {
  /** Whether this call did it. */
  changed: boolean;
}

/** Tenants: made by users, changed and ended by their members, suspended by operators. */
@Injectable()
export class OrganizationsService {
  private readonly organizations = new Table(Organization);
  private readonly memberships = new OrgTable(Membership);
  private readonly users = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly queries: OrganizationsQueries,
    private readonly roster: Roster,
    private readonly limits: OrgLimits,
    private readonly audit: Audit,
    private readonly broadcaster: Broadcaster,
  ) {}

  /**
   * Makes an organization whose owner is the actor.
   *
   * @param db the database, or the transaction to join
   * @param wish without a slug, one is made from the name
   * @throws DomainError `slug_taken` when the given slug is in use, `entitlement_exceeded` when the actor has made and owns as many as one may
   */
  create(db: Db, actor: ActingUser, wish: { name: string; slug?: string }): Promise<OrganizationView> {
    return db.transaction(actor, async (tx) => {
      await this.requireRoom(tx, actor.userId);
      const name = wish.name.trim();
      const slugs = slugsFor(name, wish.slug, 'org');
      const taken = await tx.query(TAKEN_SLUGS, [slugs, null]);
      const made = await takingSlug(slugs, taken, (slug) =>
        this.organizations.insertOrNothing(tx, { name, slug, created_by: actor.userId }),
      );
      const scope = OrgScope.member(made.id, actor.userId, 'OWNER', actor);
      await this.memberships.insert(tx, scope, { user_id: actor.userId, role: 'OWNER' });
      await this.audit.record(tx, scope, 'organization.created', made.id, { name: made.name, slug: made.slug });
      await this.limits.founded(tx, made.id, (await this.users.find(tx, actor.userId))!);
      return this.queries.ofMember(tx, made.id, actor.userId);
    });
  }

  /** @throws DomainError `not_found` when there is no such live organization */
  get(db: Db, orgId: string): Promise<Organization> {
    return this.organizations.get(db, orgId);
  }

  update(scope: OrgScope, wish: { name?: string; slug?: string }): Promise<OrganizationView> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.organizations.get(tx, scope.orgId, 'for no key update');
      const changes = changesOf<Pick<Organization, 'name' | 'slug'>>(before, { ...wish, name: wish.name?.trim() });
      const changed = Object.keys(changes) as (keyof typeof changes)[];
      if (changed.length) {
        const { slug = before.slug } = changes;
        await takingSlug([slug], await tx.query(TAKEN_SLUGS, [[slug], scope.orgId]), () =>
          refusingTakenSlug('organizations_slug', this.organizations.update(tx, scope.orgId, changes)),
        );
        if (changes.slug) {
          await tx.execute(KEEP_SLUG, [scope.orgId, before.slug]);
          await tx.execute(FORGET_SLUGS, [scope.orgId, slug]);
        }
        const facts = Object.fromEntries(changed.map((key) => [key, { from: before[key], to: changes[key] }]));
        await this.audit.record(tx, scope, 'organization.updated', scope.orgId, facts);
      }
      return this.queries.ofMember(tx, scope.orgId, scope.userId);
    });
  }

  /**
   * Ends an organization for its members at once; its rows stay for whoever must clean up or account for it. It is suspended, too: what stops
   * the work of a suspended one stops that of one that is gone.
   */
  remove(scope: OrgScope): Promise<{ org_id: string; deleted_at: Date }> {
    const end = async (tx: Tx, actor: Membership) => {
      if (actor.role !== 'OWNER') throw ownerNeeded();
      const { suspended_at, slug, receives_mail } = await this.organizations.get(tx, scope.orgId, 'for no key update');
      const gone = { deleted_at: now, suspended_at: suspended_at ?? now };
      const deleted = (await this.organizations.update(tx, scope.orgId, gone))!;
      if (receives_mail) await tx.execute(KEEP_SLUG, [scope.orgId, slug]);
      const revoked = await tx.execute(REVOKE_PENDING, [scope.orgId]);
      await this.audit.record(tx, scope, 'organization.deleted', scope.orgId, { revoked_invitations: revoked });
      this.tell(tx, scope.orgId);
      return { org_id: scope.orgId, deleted_at: deleted.deleted_at! };
    };
    // Whoever puts it on another plan has its billing first, and then wants its row, which the asking for the right shares.
    return this.roster.change(scope, end, (tx) => this.limits.ended(tx, scope.orgId));
  }

  /** Shuts the members out, or lets them in again. Doing what is done is no change: the first time is kept, and nothing is recorded. */
  setSuspended(actor: ActingUser, orgId: string, suspended: boolean): Promise<OrganizationSuspension> {
    return this.db.transaction(actor, async (tx) => {
      const otherwise = { id: orgId, suspended_at: suspended ? null : Not(IsNull()) };
      const row = await this.organizations.update(tx, otherwise, { suspended_at: suspended ? now : null });
      if (!row) return { ...(await this.organizations.get(tx, orgId)), changed: false };
      await this.audit.record(tx, { orgId, actor }, `organization.${suspended ? 'suspended' : 'unsuspended'}`, orgId);
      this.tell(tx, orgId);
      return { ...row, changed: true };
    });
  }

  private tell(tx: Tx, org_id: string): void {
    tx.afterCommit(() => this.broadcaster.send('settings.changed', { org_id }));
    tx.afterCommit(() => this.broadcaster.sent('access.changed', { user_id: null, org_id }));
  }

  /** Holds a user to `MAX_OWNED_ORGS`. One creation of theirs at a time, or two would see the same room. */
  private async requireRoom(tx: Tx, userId: string): Promise<void> {
    const limit = orgsConfig.value.maxOwned;
    if (limit === 0) return;
    await advisoryLock(tx, `owned-orgs:${userId}`);
    const [{ n: current }] = await tx.query(COUNT_OWNED, [userId]);
    if (current >= limit) {
      throw new DomainError('entitlement_exceeded', `One user may make and own ${limit} organizations, and you have ${current}.`, {
        context: { entitlement: 'max_owned_orgs', limit, current },
      });
    }
  }
}
