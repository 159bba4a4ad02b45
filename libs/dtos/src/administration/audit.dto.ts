import { PickType } from '@nestjs/swagger';
import { EnumField, NestedField, PageQuery, StringField, UuidField } from '@aps/platform/http';
import { OrganizationAuditActor, OrganizationAuditItem } from '../orgs/audit.dto';

export class AuditItem extends PickType(OrganizationAuditItem, ['id', 'action', 'target', 'metadata', 'created_at']) {
  @EnumField(['admin', 'business'], {
    name: 'AuditSource',
    description: '`admin`: an operator acted through the admin surface; `business`: it happened inside the organization.',
  })
  source: 'admin' | 'business';

  @UuidField({ nullable: true, description: 'The organization it concerns; null when none.' }) org_id: string | null;

  @NestedField(() => OrganizationAuditActor, { nullable: true, description: 'Who did it; null when the system did.' })
  actor: OrganizationAuditActor | null;
}

export class PlatformAuditQuery extends PageQuery {
  @StringField({ optional: true, max: 128, description: 'Only this action.', example: 'organization.suspended' }) action?: string;
  @UuidField({ optional: true, description: 'Only what this user did.' }) actor_id?: string;
  @UuidField({ optional: true, description: 'Only what concerns this organization.' }) org_id?: string;
}
