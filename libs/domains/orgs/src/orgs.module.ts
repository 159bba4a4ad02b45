import { type Abstract, type DynamicModule, Module } from '@nestjs/common';
import { DeparturesModule, IdentityModule, OrganizationPort } from '@aps/identity';
import { AuditQueries } from './audit.queries';
import { InvitationsRepository } from './invitations.repository';
import { InvitationsService } from './invitations.service';
import { MembersQueries } from './members.queries';
import { MembersService } from './members.service';
import { OrgDirectoryQueries } from './org-directory.queries';
import { OrgLimits } from './org-limits';
import { OrganizationAdapter } from './organization-adapter';
import { OrganizationsQueries } from './organizations.queries';
import { OrganizationsService } from './organizations.service';
import { Roster } from './roster';
import { SingleSignOn } from './single-sign-on';

const services = [
  OrganizationsService,
  OrganizationsQueries,
  MembersService,
  MembersQueries,
  InvitationsService,
  OrgDirectoryQueries,
  AuditQueries,
];

/** Organizations and their people. Global, because identity knows of organizations by the port that is bound here. */
@Module({})
export class OrgsModule {
  /**
   * @param limits what answers for plans: `OrgPlans` of billing. Billing stands above and cannot be imported here, so the
   *   application names it
   */
  static forRoot(limits: Abstract<OrgLimits>): DynamicModule {
    return {
      module: OrgsModule,
      global: true,
      imports: [DeparturesModule, IdentityModule],
      providers: [
        ...services,
        InvitationsRepository,
        Roster,
        SingleSignOn,
        { provide: OrgLimits, useExisting: limits },
        { provide: OrganizationPort, useClass: OrganizationAdapter },
      ],
      exports: [...services, OrganizationPort, OrgLimits, SingleSignOn],
    };
  }
}
