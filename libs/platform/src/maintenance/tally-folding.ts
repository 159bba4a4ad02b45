import { Module, type DynamicModule } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from './maintenance';
import { folding } from './maintenance.sql';

const BATCH = 5_000;

/**
 * Folds tallies, for a worker application: what is appended to them counts at once, and only their reading would become slower for ever
 * without.
 */
@Module({})
export class TallyFoldingModule {
  /** @param tallies each by its name, with the SQL that folds so many rows of it and answers `n`, how many it found */
  static of(tallies: { name: string; fold: string }[]): DynamicModule {
    const folds = tallies.map(({ name, fold }) => ({ name, statement: folding(fold) }));
    const register = (maintenance: Maintenance, db: Database) => {
      for (const { name, statement } of folds)
        maintenance.register({ name, everyS: 10, batch: BATCH, run: async () => (await db.query(statement, [BATCH]))[0].n });
    };
    return { module: TallyFoldingModule, providers: [{ provide: 'tally_folding', useFactory: register, inject: [Maintenance, Database] }] };
  }
}
