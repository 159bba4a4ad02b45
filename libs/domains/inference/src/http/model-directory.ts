import { Injectable } from '@nestjs/common';
import type { Principal } from '@aps/guards';
import { OrganizationPort } from '@aps/identity';
import { Database } from '@aps/platform/database';
import { ModelQueries, type ListedModel } from '../model.queries';

/** The platform's models as one user sees them. */
@Injectable()
export class ModelDirectory {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationPort,
    private readonly queries: ModelQueries,
  ) {}

  async catalogFor(principal: Principal): Promise<ListedModel[]> {
    if (principal.isPlatformAdmin) return this.queries.catalog('operator');
    const memberships = await this.organizations.membershipsOf(this.db, principal.userId);
    return this.queries.catalog(memberships.map((m) => m.org_id));
  }
}
