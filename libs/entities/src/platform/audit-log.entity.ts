import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORM_AUDIT } from '../tallies';
import { DatedRow } from '../rows';

/** Who did what. Written in the transaction of the effect; never changed. */
@Entity('audit_log')
@Index('audit_log_org', ['org_id', 'created_at'])
// The platform's own lines are few among those of organizations.
@Index('audit_log_platform', ['created_at', 'id'], { where: PLATFORM_AUDIT })
@Index('audit_log_platform_org', ['org_id', 'created_at', 'id'], { where: PLATFORM_AUDIT })
@Index('audit_log_platform_actor', ['actor_id', 'created_at', 'id'], { where: PLATFORM_AUDIT })
@Index('audit_log_platform_action', ['action', 'created_at', 'id'], { where: PLATFORM_AUDIT })
export class AuditLogRow extends DatedRow {
  @Column('text') source: 'admin' | 'business';
  @Column('text') action: string;
  @Column('uuid', { nullable: true }) org_id: string | null;
  @Column('uuid', { nullable: true }) actor_id: string | null;
  @Column('text') target_kind: string;
  @Column('text', { nullable: true }) target_id: string | null;
  @Column('jsonb', { default: () => "'{}'" }) metadata: Record<string, unknown>;
  @Column('text', { nullable: true }) request_id: string | null;
}

/** How many rows lists have in which little is looked for; see {@link LIST_TALLY}. */
@Entity('list_tallies')
@Index('list_tallies_list', ['list', 'org_id', 'of_id'])
@Index('list_tallies_appended', ['folded'], { where: 'NOT folded' })
export class ListTally {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  /** The table whose rows are listed. */
  @Column('text') list: string;
  @Column('uuid') org_id: string;
  /** What they belong to in it. */
  @Column('uuid') of_id: string;
  /** What is looked for in them. */
  @Column('text') facet: string;
  @Column('int') n: number;
  @Column('boolean', { default: false }) folded: boolean;
}
