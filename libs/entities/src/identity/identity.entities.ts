import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { DatedRow, StampedRow } from '../rows';

/** A person. Addresses are told apart by their canonical form alone. */
@Entity('users')
@Index('users_email', ['email_canonical'], { unique: true })
export class User extends StampedRow {
  /** As it was typed; never compared. */
  @Column('text') email: string;
  /** What `canonicalEmail` makes of it. */
  @Column('text') email_canonical: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) avatar_url: string | null;
  /** When a mailed link or an identity provider proved that the address is theirs; null as long as none has. */
  @Column('timestamptz', { nullable: true }) email_verified_at: Date | null;
  /** argon2id; null where they have none and sign in by a provider. */
  @Column('text', { nullable: true }) password_hash: string | null;
  @Column('timestamptz', { nullable: true }) deactivated_at: Date | null;
}

/** A sign-in. The bearer token itself is never stored. */
@Entity('sessions')
@Unique('sessions_token', ['token_hash'])
@Index('sessions_user', ['user_id', 'created_at', 'id'])
export class Session extends DatedRow {
  @ForeignKey(() => User, { onDelete: 'CASCADE' }) @Column('uuid') user_id: string;
  @Column('bytea') token_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) last_used_at: Date;
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
  /** What the client calls itself, cut to a length that a list can show. */
  @Column('text', { nullable: true }) user_agent: string | null;
  @Column('inet', { nullable: true }) ip: string | null;
  /** Name of the identity provider that it began at; null: it began with a password. */
  @Column('text', { nullable: true }) provider: string | null;
}

/** Who a user is to an identity provider. */
@Entity('user_identities')
@Unique('user_identities_subject', ['issuer', 'subject'])
// Whoever gets somebody's former address is another person there, and no second one of the same user.
@Unique('user_identities_user', ['user_id', 'issuer'])
export class UserIdentity extends DatedRow {
  @ForeignKey(() => User, { onDelete: 'CASCADE' }) @Column('uuid') user_id: string;
  /** As the provider names itself: its name in the settings may change, and so may what is meant by it. */
  @Column('text') issuer: string;
  @Column('text') subject: string;
}

/** Somebody who is at an identity provider, until they come back. */
@Entity('sign_in_requests')
@Unique('sign_in_requests_state', ['state_hash'])
@Index('sign_in_requests_over', ['expires_at'])
export class SignInRequest {
  @PrimaryColumn('uuid') id: string;
  @Column('text') provider: string;
  @Column('bytea') state_hash: Buffer;
  /** Of what their browser keeps, which nobody else has. */
  @Column('bytea') browser_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
}

/** A key for programs. It can do at most what its user can. */
@Entity('api_tokens')
@Unique('api_tokens_token', ['token_hash'])
@Index('api_tokens_user', ['user_id', 'created_at', 'id'])
export class ApiToken extends DatedRow {
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
}

/** Failed log-ins of an address, until one succeeds or they are long ago. */
@Entity('login_attempts')
export class LoginAttemptRow {
  /** SHA-256 of the canonical address: nobody's address is kept because somebody typed it. */
  @PrimaryColumn('bytea') account: Buffer;
  @Column('int') failures: number;
  @Column('timestamptz') since: Date;
  @Column('timestamptz') blocked_until: Date;
}

export const LINK_PURPOSES = ['password_reset', 'email_proof'] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** A secret that was mailed to a user, and proves by coming back that they have the mailbox. */
@Entity('mailed_links')
@Unique('mailed_links_token', ['token_hash'])
@Index('mailed_links_user', ['user_id'])
@Check('mailed_links_purpose', `purpose IN (${LINK_PURPOSES.map((purpose) => `'${purpose}'`).join(', ')})`)
export class MailedLink extends DatedRow {
  @ForeignKey(() => User, { onDelete: 'CASCADE' }) @Column('uuid') user_id: string;
  @Column('text') purpose: LinkPurpose;
  @Column('bytea') token_hash: Buffer;
  @Column('timestamptz') expires_at: Date;
  @Column('timestamptz', { nullable: true }) used_at: Date | null;
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
@Index('allowed_emails_email', ['email_canonical'], { unique: true })
export class AllowedEmail extends DatedRow {
  @Column('text') email: string;
  @Column('text') email_canonical: string;
  @Column('uuid', { nullable: true }) added_by: string | null;
}

export const WAITLIST_STATUSES = ['pending', 'admitted', 'dismissed', 'registered'] as const;
export type WaitlistStatus = (typeof WAITLIST_STATUSES)[number];

@Entity('waitlist_entries')
@Index('waitlist_entries_email', ['email_canonical'], { unique: true })
@Index('waitlist_entries_asked', ['asked_at', 'id'])
@Index('waitlist_entries_status', ['status', 'asked_at', 'id'])
export class WaitlistEntry extends StampedRow {
  @Column('text') email: string;
  @Column('text') email_canonical: string;
  @Column('text', { nullable: true }) name: string | null;
  @Column('text', { nullable: true }) note: string | null;
  @Column('text', { default: 'pending' }) status: WaitlistStatus;
  @Column('timestamptz', { default: () => 'now()' }) asked_at: Date;
  @Column('timestamptz', { nullable: true }) admitted_at: Date | null;
  @Column('timestamptz', { nullable: true }) dismissed_at: Date | null;
  @Column('timestamptz', { nullable: true }) last_mailed_at: Date | null;
}
