import { Column, DeleteDateColumn, ForeignKey, PrimaryColumn } from 'typeorm';
import { Organization } from '../orgs/orgs.entities';

/** What teams and projects are alike in: what they share with the agents in them, and their place among each other. */
export abstract class SharedBlock {
  @PrimaryColumn('uuid') id: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text', { nullable: true }) shared_instruction: string | null;
  @Column('text', { array: true, default: () => "'{}'" }) shared_allowed_tools: string[];
  @Column('text', { array: true, default: () => "'{}'" }) shared_mounted_skills: string[];
  /** Counts up in the order that members have chosen. */
  @Column('int') display_order: number;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}
