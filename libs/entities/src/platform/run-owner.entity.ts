import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An owner of runs whose session in PostgreSQL holds the advisory lock of its number, for as long as its process lives. */
@Entity('run_owners')
export class RunOwnerRow {
  @PrimaryGeneratedColumn() n: number;
  /** As in the leases that it holds. */
  @Column('text') owner: string;
}
