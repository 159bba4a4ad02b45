import { Module } from '@nestjs/common';
import { OrganizationAuditController } from './audit.controller';
import { InvitationLinksController } from './invitation-links.controller';
import { InvitationsController } from './invitations.controller';
import { MembersController } from './members.controller';
import { OrganizationsController } from './organizations.controller';
import { SingleSignOnRule } from './single-sign-on';

/** The HTTP face of organizations; needs `OrgsModule.forRoot(…)` in the application. */
@Module({
  controllers: [OrganizationsController, InvitationsController, MembersController, InvitationLinksController, OrganizationAuditController],
  providers: [SingleSignOnRule],
})
export class OrgsHttpModule {}
