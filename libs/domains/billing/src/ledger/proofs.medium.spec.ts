import { LedgerProof, USAGE_TALLY } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { BASE_MODULES, foldTally, testService } from '@aps/testing';
import { advisoryLock, NO_CALLER } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { BillingModule } from '../billing.module';
import { ProofQueries } from './proof.queries';
import { ProofsModule } from './proofs.module';
import { ProofsRepository } from './proofs.repository';
import { ProofsService } from './proofs.service';

const t = testService([...BASE_MODULES, BillingModule, ProofsModule]);
const nightly = () => t.get(ProofsService).nightly();
const proofs = () => t.db.manager.find(LedgerProof, { order: { created_at: 'ASC' } });
const pass = (hours: number) =>
  t.db.manager.query(`UPDATE ledger_proofs SET created_at = created_at - make_interval(hours => $1), checked_at = checked_at - make_interval(hours => $1)`, [hours]); // prettier-ignore
const ageHours = async () => Math.floor(((await t.get(ProofsRepository).health(t.db)).proof_age_s ?? NaN) / 3_600);

it('proves credits once a day, and again soon where that failed', async () => {
  // Another is being computed meanwhile.
  await t.db.transaction(NO_CALLER, async (tx) => {
    await advisoryLock(tx, 'ledger-proof');
    await expect(nightly()).rejects.toMatchObject({ code: 'proof_running' });
  });
  expect(await nightly()).toBe(0);
  await pass(2);
  // Nothing was ever proven, and that has been so since the first was begun.
  expect(await ageHours()).toBe(2);
  expect(await nightly()).toBe(1);
  expect(await ageHours()).toBe(0);
  await pass(23);
  expect(await ageHours()).toBe(23);
  expect(await nightly()).toBe(0);
  await pass(2);
  expect(await nightly()).toBe(1);
  expect((await proofs()).map(({ ok }) => ok)).toEqual([null, true, true]);
});

it('has more time at night than where somebody waits for it', async () => {
  await pass(25);
  await t.db.execute(
    sql(`
    CREATE FUNCTION tell() RETURNS boolean STABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'each has %', current_setting('statement_timeout'); END $$;
    ALTER TABLE org_credits RENAME TO all_credits;
    CREATE VIEW org_credits AS SELECT * FROM all_credits WHERE tell()`),
  );
  await expect(t.get(ProofQueries).prove(null)).rejects.toThrow('each has 1min');
  await expect(nightly()).rejects.toThrow('each has 10min');
  await t.db.execute(sql('DROP FUNCTION tell() CASCADE; ALTER TABLE all_credits RENAME TO org_credits'));
});

it('tells what the calls cost that burned credits, and not those beside them', async () => {
  const { id } = await anOrg(t);
  for (const [credits, usd] of [
    ['30', '0.25'],
    ['0', '7'],
  ])
    await t.db.execute(
      sql(`INSERT INTO inference_receipts (id, org_id, feature, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, usd_cost, credits, enforced, duration_ms) VALUES ($1, $2, 'turn', 'mock', 'agent', $1, 1, 0, 0, 0, 0, $4, $3, true, 1)`),
      [uuidv7(), id, credits, usd],
    );
  while (await foldTally(t.db, USAGE_TALLY));
  expect(await t.get(ProofsRepository).health(t.db)).toMatchObject({ burned: 30, cost_usd: 0.25 });
});
