import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DomainError, notFound, numberedSlug, slugFrom } from '@aps/contracts';
import { type ActingUser, OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import { advisoryLock, Database, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { InvitationsRepository } from './invitations.repository';
import { MembersRepository } from './members.repository';
import { OrganizationsQueries } from './organizations.queries';
import { isSlugTaken, OrganizationsRepository } from './organizations.repository';
import { orgsConfig } from './orgs.config';
import type { OrganizationRecord, OrganizationSuspension, OrganizationView } from './orgs.types';
import { Roster } from './roster';

/** Namesakes that get a number; the ones after them get something random. */
const NUMBERED = 100;

/** Tenants: made by users, changed and ended by their members, suspended by operators. */
@Injectable()
export class OrganizationsService {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly queries: OrganizationsQueries,
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
    const name = wish.name.trim();
    return db.transaction(actor, async (tx) => {
      await this.requireRoom(tx, actor.userId);
      const row = { id: uuidv7(), name, created_by: actor.userId };
      const made =
        wish.slug === undefined ? await this.insertWithFreeSlug(tx, row) : await this.organizations.insert(tx, { ...row, slug: wish.slug });
      if (!made) throw slugTaken();
      const scope = OrgScope.member(made.id, actor.userId, 'OWNER', actor);
      await this.members.insert(tx, scope, actor.userId, 'OWNER');
      await this.audit.record(tx, scope, 'organization.created', organization(made.id), { name: made.name, slug: made.slug });
      return this.queries.ofMember(tx, made.id, actor.userId);
    });
  }

  /** @throws DomainError `not_found` when there is no such live organization */
  async get(db: Db, orgId: string): Promise<OrganizationRecord> {
    const row = await this.organizations.find(db, OrgScope.system(orgId, 'look-up'));
    if (!row) throw notFound('Organization');
    return row;
  }

  async update(scope: OrgScope, changes: { name?: string; slug?: string }): Promise<OrganizationView> {
    try {
      return await this.db.transaction(scope, (tx) => this.change(tx, scope, changes));
    } catch (error) {
      // The unique index decides between two who want the same slug at once; it does so by ending the transaction.
      throw isSlugTaken(error) ? slugTaken() : error;
    }
  }

  /** Ends an organization for its members at once; its rows stay for whoever must clean up or account for it. */
  remove(scope: OrgScope): Promise<{ org_id: string; deleted_at: Date }> {
    return this.roster.change(scope, async (tx, actor) => {
      if (actor.role !== 'OWNER')
        throw new DomainError('insufficient_role', 'Only an owner may do this.', { context: { required: ['OWNER'] } });
      const deletedAt = await this.organizations.softDelete(tx, scope);
      if (!deletedAt) throw notFound('Organization');
      const revoked = await this.invitations.revokeAll(tx, scope);
      await this.audit.record(tx, scope, 'organization.deleted', organization(scope.orgId), { revoked_invitations: revoked });
      this.announce(tx, scope.orgId);
      return { org_id: scope.orgId, deleted_at: deletedAt };
    });
  }

  /** Shuts the members out. Again is no change: the first time is kept, and nothing is recorded. */
  async suspend(actor: ActingUser, orgId: string): Promise<OrganizationSuspension> {
    return this.db.transaction(actor, async (tx) => {
      const suspendedAt = await this.organizations.suspend(tx, OrgScope.system(orgId, 'suspension'));
      if (!suspendedAt) return this.unchanged(tx, orgId);
      await this.audit.record(tx, { orgId, actor }, 'organization.suspended', organization(orgId));
      this.announce(tx, orgId);
      return { org_id: orgId, suspended: true, suspended_at: suspendedAt, changed: true };
    });
  }

  /** Lets the members in again. An organization that is not suspended stays as it is. */
  async unsuspend(actor: ActingUser, orgId: string): Promise<OrganizationSuspension> {
    return this.db.transaction(actor, async (tx) => {
      if (!(await this.organizations.unsuspend(tx, OrgScope.system(orgId, 'suspension')))) return this.unchanged(tx, orgId);
      await this.audit.record(tx, { orgId, actor }, 'organization.unsuspended', organization(orgId));
      this.announce(tx, orgId);
      return { org_id: orgId, suspended: false, suspended_at: null, changed: true };
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

  private async unchanged(tx: Tx, orgId: string): Promise<OrganizationSuspension> {
    const { suspended_at } = await this.get(tx, orgId);
    return { org_id: orgId, suspended: suspended_at !== null, suspended_at, changed: false };
  }

  private async change(tx: Tx, scope: OrgScope, changes: { name?: string; slug?: string }): Promise<OrganizationView> {
    const before = await this.organizations.lock(tx, scope);
    if (!before) throw notFound('Organization');
    const after = { name: changes.name?.trim() ?? before.name, slug: changes.slug ?? before.slug };
    const changed = (['name', 'slug'] as const).filter((key) => after[key] !== before[key]);
    if (changed.length) {
      await this.organizations.update(tx, scope, after);
      const metadata = Object.fromEntries(changed.map((key) => [key, { from: before[key], to: after[key] }]));
      await this.audit.record(tx, scope, 'organization.updated', organization(scope.orgId), metadata);
    }
    return this.queries.ofMember(tx, scope.orgId, scope.userId);
  }

  private async insertWithFreeSlug(tx: Tx, row: { id: string; name: string; created_by: string }): Promise<OrganizationRecord | null> {
    const base = slugFrom(row.name, 'org');
    const candidates = Array.from({ length: NUMBERED }, (_, i) => numberedSlug(base, i + 1));
    const taken = await this.organizations.takenSlugs(tx, candidates);
    for (const slug of candidates) {
      // One that looked free may be taken meanwhile; the loser waits for the winner's commit and takes the next.
      const made = taken.has(slug) ? null : await this.organizations.insert(tx, { ...row, slug });
      if (made) return made;
    }
    return this.organizations.insert(tx, { ...row, slug: `${base.slice(0, 50).replace(/-$/, '')}-${randomBytes(6).toString('hex')}` });
  }

  private announce(tx: Tx, orgId: string): void {
    tx.afterCommit(() => this.broadcaster.send('settings.changed', { org_id: orgId }));
  }
}

const organization = (id: string) => ({ kind: 'organization', id });
const slugTaken = () => new DomainError('slug_taken', 'Another organization has this slug.');
