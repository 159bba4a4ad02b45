import { query } from '../../dev/lib/postgres.mjs';

/** The plan of every organization that is measured. */
export const PLAN = 'enterprise';

/** Plans limit nothing that is measured, and nobody is kept from signing in by password. */
export const GENEROUS = { enforced_idp_sso: false, max_concurrent_chats: 2_000, max_queue_depth: 20_000 };

/** Changes what the plan includes. Processes that run find out within a second. */
export const entitle = (databaseUrl, changes) =>
  query(
    databaseUrl,
    `UPDATE plans SET ${Object.entries(changes)
      .map(([name, value]) => `${name} = ${value}`)
      .join(', ')} WHERE code = '${PLAN}'`,
  );
