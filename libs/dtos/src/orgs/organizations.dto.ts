import { MAX_ORG_NAME } from '@aps/contracts';
import { BooleanField, DateTimeField, IntField, SlugField, StringField, UuidField } from '@aps/platform/http';
import { NameField } from '../identity/names';
import { RoleField, type OrgRoleName } from './roles';

export class CreateOrganizationRequest {
  @NameField({ max: MAX_ORG_NAME, description: 'What people call it.', example: 'Acme' }) name: string;

  @SlugField({
    optional: true,
    description: 'Name for addresses, free among all live organizations. Made from the name when omitted.',
    example: 'acme',
  })
  slug?: string;
}

export class UpdateOrganizationRequest {
  @NameField({ max: MAX_ORG_NAME, optional: true, description: 'What people call it. The slug does not follow.', example: 'Acme Labs' })
  name?: string;

  @SlugField({ optional: true, description: 'Name for addresses.', example: 'acme-labs' }) slug?: string;
}

export class OrganizationResponse {
  @UuidField({ description: 'The organization.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11' }) id: string;
  @StringField({ description: 'What people call it.', example: 'Acme' }) name: string;
  @StringField({ description: 'Name for addresses.', example: 'acme' }) slug: string;

  @StringField({
    nullable: true,
    description: 'Code of the plan that it is subscribed to; null without a subscription.',
    example: 'starter',
  })
  plan_code: string | null;

  @BooleanField({ description: 'A suspended organization lets its members in no more.', example: false }) suspended: boolean;
  @DateTimeField({ nullable: true, description: 'Since when it is suspended.' }) suspended_at: string | null;
  @IntField({ description: 'How many members it has.', example: 4 }) member_count: number;
  @RoleField({ description: "The caller's role in it.", example: 'OWNER' }) my_role: OrgRoleName;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was last changed.' }) updated_at: string;
}

export class OrganizationDeletedResponse {
  @UuidField({ description: 'The organization that was deleted.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11' }) org_id: string;
  @DateTimeField({ description: 'Since when nobody gets in.' }) deleted_at: string;
}
