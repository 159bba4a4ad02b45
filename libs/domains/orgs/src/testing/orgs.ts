import { Global, Injectable, Module } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { OrgRole } from '@aps/guards';
import { IdentityHttpModule } from '@aps/identity/http';
import { anEmail, mailedLinks } from '@aps/identity/testing';
import { sql, type Answer, type Bearer } from '@aps/platform/testing';
import { BASE_MODULES, type TestService } from '@aps/testing';
import { OrgsHttpModule } from '../http/orgs-http.module';
import { OrgLimits } from '../org-limits';
import { OrgsModule } from '../orgs.module';
import type { TestOrg } from './organizations';

/** Plans whose answers a test sets; by default they allow everything. What knows plans stands above this domain. */
@Injectable()
export class TestLimits extends OrgLimits {
  maxSeats = Infinity;
  auditLog = true;
  /** Ids of those that want single sign-on. */
  readonly sso = new Set<string>();

  async require(): Promise<void> {
    if (!this.auditLog) throw new DomainError('entitlement_required', 'Not in this plan.', { context: { entitlement: 'audit_log' } });
  }

  async requireRoom(_orgId: string, entitlement: string, current: number): Promise<void> {
    if (current >= this.maxSeats)
      throw new DomainError('entitlement_exceeded', 'No room.', { context: { entitlement, limit: this.maxSeats, current } });
  }

  async has(orgId: string): Promise<boolean> {
    return this.sso.has(orgId);
  }

  async founded(): Promise<void> {}

  async proven(): Promise<void> {}

  async ended(): Promise<void> {}

  async plansOf(): Promise<ReadonlyMap<string, string>> {
    return new Map();
  }
}

@Global()
@Module({ providers: [TestLimits], exports: [TestLimits] })
class TestLimitsModule {}

/** Organizations and identity behind HTTP. */
export const ORGS = [...BASE_MODULES, TestLimitsModule, OrgsModule.forRoot(TestLimits), IdentityHttpModule, OrgsHttpModule];

export function invite(service: TestService, org: TestOrg, email: unknown, role?: unknown, as: Bearer = org.owner): Promise<Answer> {
  return service.call('POST', `${org.path}/members/invitations`, { as, body: { email, role } });
}

/** An invitation of an address, with the secret that it was mailed. */
export async function anInvitation(service: TestService, org: TestOrg, email = anEmail(), role?: OrgRole) {
  const { status, body } = await invite(service, org, email, role);
  if (status !== 201) throw new Error(`Inviting answered ${status} ${JSON.stringify(body)}`);
  return { ...org, email, invitation: body as { id: string }, token: (await mailedLinks(service, email, 'invite')).at(-1)! };
}

/** Role by address, as stored. */
export async function rolesOf(service: TestService, { id }: { id: string }): Promise<Record<string, OrgRole>> {
  const statement = sql<{ email: string; role: OrgRole }>(
    'SELECT u.email, m.role FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1',
  );
  return Object.fromEntries((await service.db.query(statement, [id])).map(({ email, role }) => [email, role]));
}
