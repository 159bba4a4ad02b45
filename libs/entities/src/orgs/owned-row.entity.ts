import { Column, DeleteDateColumn, ForeignKey } from 'typeorm';
import { StampedRow } from '../rows';
import { Organization } from './orgs.entities';

/** What members make, an organization owns, and is deleted softly. */
export abstract class OwnedRow extends StampedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
}

/** Such a row that people give a name, and addresses a slug. */
export abstract class NamedRow extends OwnedRow {
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
}
