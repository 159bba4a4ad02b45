import { Injectable } from '@nestjs/common';
import { IdentityProviders } from '@aps/identity';
import type { Db } from '@aps/platform/database';
import { OrgLimits } from './org-limits';

/** Which organizations refuse passwords. Without any identity provider none does: all of their members would be locked out. */
@Injectable()
export class SingleSignOn {
  constructor(
    private readonly limits: OrgLimits,
    private readonly providers: IdentityProviders,
  ) {}

  async isWantedBy(orgId: string, db?: Db): Promise<boolean> {
    return (await this.limits.has(orgId, 'enforced_idp_sso', db)) && (await this.providers.areInUse(db));
  }
}
