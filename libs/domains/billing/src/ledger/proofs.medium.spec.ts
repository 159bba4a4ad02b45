import { LedgerProof } from '@aps/entities';
import { BASE_MODULES, testService } from '@aps/testing';
import { advisoryLock, NO_CALLER } from '@aps/platform/database';
import { BillingModule } from '../billing.module';
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
