import { DateTimeField, EnumField, NestedField, ObjectField, PageQuery, StringField, UuidField } from '@aps/platform/http';

export class AuditActorResponse {
  @UuidField({ description: 'The user who acted.' }) id: string;

  @StringField({ nullable: true, description: 'Their address today; null when the user is gone.', example: 'ada@example.com' })
  email: string | null;
}

export class AuditTargetResponse {
  @StringField({ description: 'Kind of the thing.', example: 'organization' }) kind: string;
  @StringField({ nullable: true, description: 'Its id.' }) id: string | null;
}

export class AuditItem {
  @UuidField({ description: 'The entry.' }) id: string;

  @EnumField(['admin', 'business'], {
    name: 'AuditSource',
    description: '`admin`: an operator acted through the admin surface; `business`: it happened inside the organization.',
  })
  source: 'admin' | 'business';

  @StringField({ description: 'What was done, as `<thing>.<verb>`.', example: 'organization.suspended' }) action: string;
  @UuidField({ nullable: true, description: 'The organization it concerns; null when none.' }) org_id: string | null;

  @NestedField(() => AuditActorResponse, { nullable: true, description: 'Who did it; null when the system did.' })
  actor: AuditActorResponse | null;

  @NestedField(() => AuditTargetResponse, { description: 'What it was done to.' }) target: AuditTargetResponse;
  @ObjectField({ description: 'Facts that a reader needs. Never secrets.', example: { role: 'ADMIN' } }) metadata: Record<string, unknown>;
  @DateTimeField({ description: 'When.' }) created_at: string;
}

export class PlatformAuditQuery extends PageQuery {
  @StringField({ optional: true, max: 128, description: 'Only this action.', example: 'organization.suspended' }) action?: string;
  @UuidField({ optional: true, description: 'Only what this user did.' }) actor_id?: string;
  @UuidField({ optional: true, description: 'Only what concerns this organization.' }) org_id?: string;
}
