import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

/** A person. Addresses are unique without regard to case (see schema-extras). */
@Entity('users')
export class User {
  @PrimaryColumn('uuid') id: string;
  @Column('text') email: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) avatar_url: string | null;
  /** argon2id. */
  @Column('text') password_hash: string;
  @Column('timestamptz', { nullable: true }) deactivated_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** A sign-in. The bearer token itself is never stored. */
@Entity('sessions')
@Unique('sessions_token', ['token_hash'])
@Index('sessions_user', ['user_id'])
export class Session {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' }) @Column('uuid') user_id: string;
  @Column('bytea') token_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) last_used_at: Date;
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** A key for programs. It can do at most what its user can. */
@Entity('api_tokens')
@Unique('api_tokens_token', ['token_hash'])
@Index('api_tokens_user', ['user_id'])
export class ApiToken {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' }) @Column('uuid') user_id: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  /** Space-separated `<area>:read|write`, or `*`. */
  @Column('text', { default: '*' }) scope: string;
  /** The only organization it is good for; null = all of its user's. */
  @Column('uuid', { nullable: true }) org_id: string | null;
  @Column('bytea') token_hash: Buffer;
  @Column('text') prefix: string;
  @Column('text') last4: string;
  @Column('timestamptz', { nullable: true }) last_used_at: Date | null;
  @Column('timestamptz', { nullable: true }) expires_at: Date | null;
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

@Entity('password_resets')
@Unique('password_resets_token', ['token_hash'])
@Index('password_resets_user', ['user_id'])
export class PasswordReset {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' }) @Column('uuid') user_id: string;
  @Column('bytea') token_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
  @Column('timestamptz', { nullable: true }) used_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** People who operate the platform. */
@Entity('platform_admins')
export class PlatformAdminRow {
  @ForeignKey(() => User) @PrimaryColumn('uuid') user_id: string;
  @Column('uuid', { nullable: true }) added_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** Addresses that may sign up without an invitation. */
@Entity('allowed_emails')
export class AllowedEmail {
  @PrimaryColumn('uuid') id: string;
  @Column('text') email: string;
  @Column('uuid', { nullable: true }) added_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

export const WAITLIST_STATUSES = ['pending', 'admitted', 'dismissed', 'registered'] as const;
export type WaitlistStatus = (typeof WAITLIST_STATUSES)[number];

@Entity('waitlist_entries')
@Index('waitlist_entries_asked', ['asked_at'])
export class WaitlistEntry {
  @PrimaryColumn('uuid') id: string;
  @Column('text') email: string;
  @Column('text', { nullable: true }) name: string | null;
  @Column('text', { nullable: true }) note: string | null;
  @Column('text', { default: 'pending' }) status: WaitlistStatus;
  @Column('timestamptz', { default: () => 'now()' }) asked_at: Date;
  @Column('timestamptz', { nullable: true }) admitted_at: Date | null;
  @Column('timestamptz', { nullable: true }) dismissed_at: Date | null;
  @Column('timestamptz', { nullable: true }) last_mailed_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}
