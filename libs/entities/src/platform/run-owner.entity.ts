import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An owner of runs whose session in PostgreSQL holds the advisory lock of its number, for as long as its process lives. */
@Entity('run_owners')
export class RunOwnerRow {
  @PrimaryGeneratedColumn() n: number;
  /** As in the leases that it holds. */
  @Column('text') owner: string;
  /** The app that it is a worker of: others know nothing of the kinds of its runs. */
  @Column('text') app: string;
}
