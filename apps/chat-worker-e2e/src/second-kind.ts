import { randomUUID } from 'node:crypto';
import type { Chance } from '@aps/platform/testing';
import type { Db } from '@aps/platform/database';
import { COUNTING_TABLES, MISCOUNTED, START_COUNT } from '@aps/platform/runs/testing';
import { BOOK } from '@aps/tools/testing';
import { until, type PlatformOptions } from '../../api-gateway-e2e/support';

/** Has the workers run a second kind beside turns, of which their code knows nothing: it counts. */
export const SECOND_KIND = {
  entries: { 'chat-worker': 'apps/chat-worker-e2e/worker/main.js' },
  tables: [...COUNTING_TABLES, BOOK],
} satisfies PlatformOptions;

/** Starts a run of the second kind. Who is not answered may ask again with the same id. */
export async function startCount(db: Db, orgId: string, chance: Chance, id: string = randomUUID()): Promise<void> {
  const wanted = chance.between(2, 8);
  await db.execute(START_COUNT, [id, orgId, wanted, chance.between(1, 4) === 1 ? chance.between(1, wanted - 1) : null]);
}

/** Waits until every run of the second kind has said each of its numbers once. */
export async function checkCounts(db: Db, withinMs: number): Promise<void> {
  const wrong = () => db.query(MISCOUNTED);
  await until('every number has been said once', async () => (await wrong()).length === 0, withinMs).catch(async () =>
    expect(await wrong()).toEqual([]),
  );
}
