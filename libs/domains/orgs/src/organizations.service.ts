import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DomainError, notFound, numberedSlug, slugFrom } from '@aps/contracts';
import { Membership, Organization } from '@aps/entities';
import { type ActingUser, OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import { advisoryLock, Database, isUniqueViolation, now, OrgTable, Table, type Db, type Tx } from '@aps/platform/database';
import { In, IsNull, Not } from 'typeorm';
import { InvitationsRepository } from './invitations.repository';
import { ownerNeeded } from './members.policy';
import { MembersQueries } from './members.queries';
import { OrganizationsQueries, type OrganizationView } from './organizations.queries';
import { orgsConfig } from './orgs.config';
import { Roster } from './roster';

export interface OrganizationSuspension extends Organization {
  /** Whether this call did it. */
  changed: boolean;
}

/** Tenants: made by users, changed and ended by their members, suspended by operators. */
@Injectable()
export class OrganizationsService {
  private readonly organizations = new Table(Organization);
  private readonly memberships = new OrgTable(Membership);

  constructor(
    private readonly db: Database,
    private readonly queries: OrganizationsQueries,
    private readonly members: MembersQueries,
    private readonly invitations: InvitationsRepository,
    private readonly roster: Roster,
    private readonly audit: Audit,
    private readonly broadcaster: Broadcaster,
  ) {}

  /**
   * Makes an organization whose owner is the actor.
   *
   * @param db the database, or the transaction to join
   * @param wish without a slug, one is made from the name
   * @throws DomainError `slug_taken` when the given slug is in use, `entitlement_exceeded` when the actor owns as many as one may
   */
  create(db: Db, actor: ActingUser, wish: { name: string; slug?: string }): Promise<OrganizationView> {
    return db.transaction(actor, async (tx) => {
      await this.requireRoom(tx, actor.userId);
      const name = wish.name.trim();
      const slugs = wish.slug === undefined ? slugsFor(name) : [wish.slug];
      const made = await this.insertWithFree(tx, slugs, { name, created_by: actor.userId });
      const scope = OrgScope.member(made.id, actor.userId, 'OWNER', actor);
      await this.memberships.insert(tx, scope, { user_id: actor.userId, role: 'OWNER' });
      await this.audit.record(tx, scope, 'organization.created', organization(made.id), { name: made.name, slug: made.slug });
      return this.queries.ofMember(tx, made.id, actor.userId);
    });
  }

  /** @throws DomainError `not_found` when there is no such live organization */
  get(db: Db, orgId: string): Promise<Organization> {
    return this.organizations.get(db, orgId);
  }

  update(scope: OrgScope, changes: { name?: string; slug?: string }): Promise<OrganizationView> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.organizations.get(tx, scope.orgId, 'for no key update');
      const after = { name: changes.name?.trim() ?? before.name, slug: changes.slug ?? before.slug };
      const changed = (['name', 'slug'] as const).filter((key) => after[key] !== before[key]);
      if (changed.length) {
        await this.organizations.update(tx, scope.orgId, after).catch((error: unknown) => {
          // The unique index decides between two who want the same slug at once.
          throw isUniqueViolation(error, 'organizations_slug') ? slugTaken() : error;
        });
        const facts = Object.fromEntries(changed.map((key) => [key, { from: before[key], to: after[key] }]));
        await this.audit.record(tx, scope, 'organization.updated', organization(scope.orgId), facts);
      }
      return this.queries.ofMember(tx, scope.orgId, scope.userId);
    });
  }

  /** Ends an organization for its members at once; its rows stay for whoever must clean up or account for it. */
  remove(scope: OrgScope): Promise<{ org_id: string; deleted_at: Date }> {
    return this.roster.change(scope, async (tx, actor) => {
      if (actor.role !== 'OWNER') throw ownerNeeded();
      const deleted = await this.organizations.delete(tx, scope.orgId);
      if (!deleted?.deleted_at) throw notFound('Organization');
      const revoked = await this.invitations.revokeAll(tx, scope);
      await this.audit.record(tx, scope, 'organization.deleted', organization(scope.orgId), { revoked_invitations: revoked });
      this.announce(tx, scope.orgId);
      return { org_id: scope.orgId, deleted_at: deleted.deleted_at };
    });
  }

  /** Shuts the members out. Again is no change: the first time is kept, and nothing is recorded. */
  suspend(actor: ActingUser, orgId: string): Promise<OrganizationSuspension> {
    return this.setSuspended(actor, orgId, true);
  }

  /** Lets the members in again. An organization that is not suspended stays as it is. */
  unsuspend(actor: ActingUser, orgId: string): Promise<OrganizationSuspension> {
    return this.setSuspended(actor, orgId, false);
  }

  private setSuspended(actor: ActingUser, orgId: string, suspended: boolean): Promise<OrganizationSuspension> {
    return this.db.transaction(actor, async (tx) => {
      const otherwise = { id: orgId, suspended_at: suspended ? null : Not(IsNull()) };
      const row = await this.organizations.update(tx, otherwise, { suspended_at: suspended ? now : null });
      if (!row) return { ...(await this.organizations.get(tx, orgId)), changed: false };
      await this.audit.record(tx, { orgId, actor }, `organization.${suspended ? 'suspended' : 'unsuspended'}`, organization(orgId));
      this.announce(tx, orgId);
      return { ...row, changed: true };
    });
  }

  /** Holds a user to `MAX_OWNED_ORGS`. One creation of theirs at a time, or two would see the same room. */
  private async requireRoom(tx: Tx, userId: string): Promise<void> {
    const limit = orgsConfig.value.maxOwned;
    if (limit === 0) return;
    await advisoryLock(tx, `owned-orgs:${userId}`);
    const current = await this.members.countOwned(tx, userId);
    if (current >= limit) {
      throw new DomainError('entitlement_exceeded', `One user may own ${limit} organizations, and you own ${current}.`, {
        context: { entitlement: 'max_owned_orgs', limit, current },
      });
    }
  }

  /** @param slugs the first that is free becomes that of the organization */
  private async insertWithFree(tx: Tx, slugs: string[], columns: { name: string; created_by: string }): Promise<Organization> {
    const taken = new Set((await this.organizations.list(tx, { slug: In(slugs) }, {})).map(({ slug }) => slug));
    for (const slug of slugs.filter((candidate) => !taken.has(candidate))) {
      // One that looked free may be taken meanwhile; the loser waits for the winner's commit and takes the next.
      const made = await this.organizations.insertOrNothing(tx, { ...columns, slug });
      if (made) return made;
    }
    throw slugTaken();
  }

  private announce(tx: Tx, orgId: string): void {
    tx.afterCommit(() => this.broadcaster.send('settings.changed', { org_id: orgId }));
  }
}

const organization = (id: string) => ({ kind: 'organization', id });
const slugTaken = () => new DomainError('slug_taken', 'Another organization has this slug.');

/** Namesakes get a number, and the ones after a hundred of them something random. */
function slugsFor(name: string): string[] {
  const base = slugFrom(name, 'org');
  const numbered = Array.from({ length: 100 }, (_, i) => numberedSlug(base, i + 1));
  return [...numbered, `${base.slice(0, 50).replace(/-$/, '')}-${randomBytes(6).toString('hex')}`];
}
