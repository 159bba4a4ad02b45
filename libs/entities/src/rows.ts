import { Column, PrimaryColumn } from 'typeorm';

/** A row that has a time of its own. */
export abstract class DatedRow {
  @PrimaryColumn('uuid') id: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** A row that is changed, too. */
export abstract class StampedRow extends DatedRow {
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** A row that is an organization's by what it belongs to: its foreign keys name `org_id` with that. */
export abstract class OrgRow {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') org_id: string;
}

export abstract class DatedOrgRow extends OrgRow {
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

export abstract class StampedOrgRow extends DatedOrgRow {
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}
