import { seedSystemSkills } from '@aps/agents';
import { seedBilling } from '@aps/billing';
import { seedIdentity } from '@aps/identity';
import { seedInference } from '@aps/inference';
import type { Database } from '@aps/platform/database';

/** What every installation needs, written so that running it again changes nothing that an operator has edited. */
export async function seedBase(db: Database): Promise<void> {
  await seedIdentity(db);
  await seedBilling(db);
  await seedInference(db);
  await seedSystemSkills(db);
}
