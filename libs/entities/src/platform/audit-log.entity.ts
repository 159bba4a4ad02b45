import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Who did what. Written in the transaction of the effect; never changed. */
@Entity('audit_log')
@Index('audit_log_org', ['org_id', 'created_at'])
@Index('audit_log_created', ['created_at'])
export class AuditLogRow {
  @PrimaryColumn('uuid') id: string;
  @Column('text') source: 'admin' | 'business';
  @Column('text') action: string;
  @Column('uuid', { nullable: true }) org_id: string | null;
  @Column('uuid', { nullable: true }) actor_id: string | null;
  @Column('text') target_kind: string;
  @Column('text', { nullable: true }) target_id: string | null;
  @Column('jsonb', { default: () => "'{}'" }) metadata: Record<string, unknown>;
  @Column('text', { nullable: true }) request_id: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}
