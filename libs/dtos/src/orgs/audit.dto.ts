import { DateTimeField, EnumField, NestedField, ObjectField, StringField, UuidField } from '@aps/platform/http';

export class OrganizationAuditActor {
  @UuidField({ description: 'The user who acted.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a12' }) id: string;

  @StringField({ nullable: true, description: 'Their address today; null when the user is gone.', example: 'ada@example.com' })
  email: string | null;
}

export class OrganizationAuditTarget {
  @StringField({ description: 'Kind of the thing.', example: 'user' }) kind: string;
  @StringField({ nullable: true, description: 'Its id.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a13' }) id: string | null;
}

export class OrganizationAuditItem {
  @UuidField({ description: 'The entry.', example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a14' }) id: string;

  @EnumField(['admin', 'business'], {
    name: 'AuditSource',
    description: '`business`: a member acted; `admin`: an operator of the platform did, who stays nameless.',
    example: 'business',
  })
  source: 'admin' | 'business';

  @StringField({ description: 'What was done, as `<thing>.<verb>`.', example: 'member.role_changed' }) action: string;

  @NestedField(() => OrganizationAuditActor, { nullable: true, description: 'Who did it; null for the system and for operators.' })
  actor: OrganizationAuditActor | null;

  @NestedField(() => OrganizationAuditTarget, { description: 'What it was done to.' }) target: OrganizationAuditTarget;

  @ObjectField({ description: 'Facts that a reader needs. Never secrets.', example: { from: 'MEMBER', to: 'ADMIN' } })
  metadata: Record<string, unknown>;

  @DateTimeField({ description: 'When.' }) created_at: string;
}
