import type { Database } from '@aps/platform/database';

/** What every installation needs, written so that running it again changes nothing that an operator has edited. */
export async function seedBase(_db: Database): Promise<void> {
  // Filled by the domains.
}

/** The demo organization of a development stack; its credentials are written to `file`. */
export async function seedDemo(_file: string): Promise<void> {
  // Filled by the domains.
}
