import { DateTimeField, EmailField, NestedField, StringField, UuidField } from '@aps/platform/http';

/** A person as other records point at one. */
export class AdminUserRef {
  @UuidField({ description: 'The user.' }) user_id: string;
  @StringField({ description: 'Their address.', example: 'ada@example.com' }) email: string;
}

export class AddPlatformAdminRequest {
  @EmailField({ description: 'Address of a registered user; compared without regard to case.', example: 'ada@example.com' }) email: string;
}

export class PlatformAdminResponse {
  @UuidField({ description: 'The operator.' }) user_id: string;
  @StringField({ description: 'Their address.', example: 'ada@example.com' }) email: string;
  @StringField({ description: 'Their name.', example: 'Ada Lovelace' }) name: string;

  @NestedField(() => AdminUserRef, {
    nullable: true,
    description: 'Who made them an operator; null for the first one, made at installation.',
  })
  added_by: AdminUserRef | null;

  @DateTimeField({ description: 'When they became an operator.' }) created_at: string;
}

export class AddAllowedEmailRequest {
  @EmailField({ description: 'Address that may sign up; compared without regard to case.', example: 'grace@example.com' }) email: string;
}

export class AllowedEmailResponse {
  @UuidField({ description: 'The entry.' }) id: string;
  @StringField({ description: 'The address that may sign up.', example: 'grace@example.com' }) email: string;
  @NestedField(() => AdminUserRef, { nullable: true, description: 'The operator who added it.' }) added_by: AdminUserRef | null;
  @DateTimeField({ description: 'When it was added.' }) created_at: string;
}
