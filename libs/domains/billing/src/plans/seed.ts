import { BillingSeed, CreditPack, Plan, RateCard } from '@aps/entities';
import { NO_CALLER, Table, type Db, type Tx } from '@aps/platform/database';
import { packColumns, planColumns } from './catalog.policy';
import { CARD_SEED, PACK_SEED, PLAN_SEED } from './seed.catalog';

const seeds = new Table(BillingSeed);
const plans = new Table(Plan);
const packs = new Table(CreditPack);
const cards = new Table(RateCard);

/**
 * Makes the plans, the packs and the rate card of a new installation, each once. What is there is left as it is, and what an operator
 * deleted does not come back.
 */
export async function seedBilling(db: Db): Promise<void> {
  await db.transaction(NO_CALLER, async (tx) => {
    for (const plan of PLAN_SEED) await once(tx, `plan:${plan.code}`, () => plans.insertOrNothing(tx, planColumns(plan)));
    for (const pack of PACK_SEED) await once(tx, `pack:${pack.code}`, () => packs.insertOrNothing(tx, packColumns(pack)));
    await once(tx, `card:${CARD_SEED.version}`, () => cards.insertOrNothing(tx, CARD_SEED));
  });
}

/** Two that seed at the same time wait for each other at the first name. */
async function once(tx: Tx, name: string, make: () => Promise<unknown>): Promise<void> {
  if (await seeds.insertOrNothing(tx, { name })) await make();
}
