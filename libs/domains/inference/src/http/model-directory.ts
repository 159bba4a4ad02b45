import { Injectable } from '@nestjs/common';
import type { Principal } from '@aps/guards';
import { OrganizationPort } from '@aps/identity';
import { Database } from '@aps/platform/database';
import { ModelQueries, type ListedModel } from '../model.queries';

/** Of so many organizations that a user belongs to, most of the time one sees dollars. */
const FEW = 100;

/** The platform's models as one user sees them. */
@Injectable()
export class ModelDirectory {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationPort,
    private readonly queries: ModelQueries,
  ) {}

  async catalogFor(principal: Principal): Promise<ListedModel[]> {
    return this.queries.catalog(principal.isPlatformAdmin || (await this.seesDollars(principal.userId, FEW)));
  }

  private async seesDollars(userId: string, limit?: number): Promise<boolean> {
    const memberships = await this.organizations.membershipsOf(this.db, userId, limit);
    if (await this.queries.oneSeesDollars(memberships.map((m) => m.org_id))) return true;
    return memberships.length === limit && this.seesDollars(userId);
  }
}
