import { Column } from 'typeorm';
import { NamedRow } from '../orgs/owned-row.entity';

/** What teams and projects are alike in: what they share with the agents in them, and their place among each other. */
export abstract class SharedBlock extends NamedRow {
  @Column('text', { nullable: true }) shared_instruction: string | null;
  @Column('text', { array: true, default: () => "'{}'" }) shared_allowed_tools: string[];
  @Column('text', { array: true, default: () => "'{}'" }) shared_mounted_skills: string[];
  /** Counts up in the order that members have chosen. */
  @Column('int') display_order: number;
}
