export { type AuditLine, AuditQueries } from './audit.queries';
export type { OrgMemberInfo } from './members.queries';
export { MembersService } from './members.service';
export { type OrgDirectoryEntry, type OrgDirectoryFilter, OrgDirectoryQueries } from './org-directory.queries';
export { OrgLimits } from './org-limits';
export { type OrganizationSuspension, OrganizationsService } from './organizations.service';
export { OrgsModule } from './orgs.module';
export { receivesMail } from './receives-mail';
