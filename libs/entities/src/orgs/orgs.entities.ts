import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, DeleteDateColumn, Unique } from 'typeorm';
import { User } from '../identity/identity.entities';
import { StampedRow } from '../rows';

/** A tenant. */
@Entity('organizations')
@Index('organizations_slug', ['slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('organizations_created', ['created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('organizations_plan', ['plan_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('organizations_suspended', ['created_at', 'id'], { where: 'deleted_at IS NULL AND suspended_at IS NOT NULL' })
export class Organization extends StampedRow {
  @Column('text') name: string;
  @Column('text') slug: string;
  @Column('uuid', { nullable: true }) created_by: string | null;
  /** Of its subscription, whose trigger writes it: lists look for it. Null without one. */
  @Column('uuid', { nullable: true }) plan_id: string | null;
  @Column('timestamptz', { nullable: true }) suspended_at: Date | null;
  /** It has, or has had, an address that mail comes to; its slug is in that. */
  @Column('boolean', { default: false }) receives_mail: boolean;
  /** Newest event of the organization's own topic. */
  @Column('int', { default: 0 }) event_seq: number;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
}

@Entity('memberships')
@Unique('memberships_org_user', ['org_id', 'user_id'])
@Index('memberships_user', ['user_id', 'sort_name', 'org_id'])
@Index('memberships_org', ['org_id', 'created_at', 'id'])
@Check('memberships_role', `role IN ('OWNER', 'ADMIN', 'MEMBER')`)
export class Membership extends StampedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @ForeignKey(() => User) @Column('uuid') user_id: string;
  @Column('text') role: 'OWNER' | 'ADMIN' | 'MEMBER';
  /** The organization's name in small letters, by which its members' lists are in order; null once it is deleted. Triggers write it. */
  @Column('text', { nullable: true }) sort_name: string | null;
}

/** An offer of membership to an address that has no account. At most one is pending per address and organization. */
@Entity('invitations')
@Index('invitations_pending', ['org_id', 'email_canonical'], { unique: true, where: `state = 'pending'` })
@Index('invitations_email', ['email_canonical'])
@Unique('invitations_token', ['token_hash'])
@Index('invitations_org', ['org_id', 'created_at'])
@Index('invitations_author', ['invited_by', 'created_at'])
@Check('invitations_state', `state IN ('pending', 'accepted', 'revoked')`)
export class Invitation extends StampedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') email: string;
  @Column('text') email_canonical: string;
  @Column('text') role: 'OWNER' | 'ADMIN' | 'MEMBER';
  @Column('bytea') token_hash: Buffer;
  @Column('text', { default: 'pending' }) state: 'pending' | 'accepted' | 'revoked';
  @Column('uuid', { nullable: true }) invited_by: string | null;
  @Column('timestamptz') expires_at: Date;
  @Column('timestamptz', { nullable: true }) accepted_at: Date | null;
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
}

/** A slug that an organization has given up, for another or by its deletion: nobody else gets it for a while, because mail still goes to addresses with it. */
@Entity('former_slugs')
@Index('former_slugs_org', ['org_id', 'since'])
export class FormerSlug {
  @PrimaryColumn('text') slug: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  /** When it was given up. */
  @Column('timestamptz', { default: () => 'now()' }) since: Date;
}
