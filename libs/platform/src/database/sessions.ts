import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { ClientBase } from 'pg';
import { databaseConfig } from './database.config';

/** Settings of PostgreSQL that bound for how long a statement, or a transaction that was forgotten, can be in everybody's way; in ms, 0 is off. */
export interface SessionLimits {
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
}

/** What each session of an app gets. */
export const sessionLimits = (): SessionLimits => ({
  statement_timeout: databaseConfig.value.statementTimeoutMs,
  lock_timeout: databaseConfig.value.lockTimeoutMs,
  idle_in_transaction_session_timeout: 15_000,
});

const NAMES = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const satisfies (keyof SessionLimits)[];

/** @throws an error that is a connection loss: a standby would answer reads, and be kept. It takes no writes */
export function refuseStandby({ standby }: { standby: boolean }): void {
  if (standby) throw Object.assign(new Error('PostgreSQL is a standby here, and takes no writes.'), { code: '25006' });
}

/**
 * Sets the limits where the session is ours, and says what they are. It is ours when its backend is the one that the connection was
 * introduced to; a pooler lends us another with every transaction, and what we set there would stay with it, for whoever comes next.
 */
const BEGIN = `
  SELECT own, pg_is_in_recovery() AS standby, CASE WHEN own THEN set_config('plan_cache_mode', $2, false) END,
         ${NAMES.map((name, i) => `CASE WHEN own THEN set_config('${name}', $${i + 3}, false) END`).join(', ')}
  FROM (SELECT pg_backend_pid() = $1::int AS own) AS s`;

/** The limits in ms that a session has by itself, and those that sessions will have that begin now. */
const LIMITS = `
  SELECT l.name, s.setting::int AS now, EXISTS (
    SELECT FROM pg_db_role_setting d CROSS JOIN unnest(d.setconfig) AS c(entry)
    WHERE d.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND d.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user)) AND c.entry LIKE l.name || '=%' AND c.entry NOT IN (l.name || '=0', l.name || '=')
  ) AS stored
  FROM unnest($1::text[]) AS l(name) JOIN pg_settings s ON s.name = l.name ORDER BY l.name`;

/** Makes the limits those of the role in this database, so that sessions have them that nobody can set up: those behind a pooler. */
export const storeLimits = (limits: SessionLimits): string[] =>
  NAMES.map(
    (name) =>
      `DO $$ BEGIN EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET ${name} = ${limits[name]}', current_database()); END $$`,
  );

/**
 * How a process's sessions begin. Nothing is asked for in the start-up packet: poolers refuse what they do not know there, or ignore it.
 * So each new connection is asked once whether its session is ours. If it is, it gets its limits. Behind a pooler in transaction mode
 * (PgBouncer) it has those that the migration has given to the role, which is looked at once, and so is whether the pooler keeps
 * prepared statements.
 */
export class Sessions {
  private readonly logger = new Logger('Database');
  private inspected: Promise<void> | undefined;
  private keepsNames = true;

  /** @param limits undefined: no bounds, and none are missed */
  constructor(private readonly limits: SessionLimits | undefined) {}

  /** Whether a statement that was prepared under a name is still there for the next transaction. */
  get named(): boolean {
    return this.keepsNames;
  }

  /** The longest that PostgreSQL lets a statement take; 0 is for ever. */
  get statementTimeoutMs(): number {
    return this.limits?.statement_timeout ?? 0;
  }

  /**
   * @throws Error at the first connection through a pooler behind which nothing bounds our sessions; one that is a connection loss where
   * the server is a standby, as the old primary may be after a failover, at an address that does not lead to the new one yet: it would answer reads, and be kept
   */
  async begin(client: ClientBase, planning: 'auto' | 'force_generic_plan' = 'auto'): Promise<void> {
    const { processID } = client as ClientBase & { readonly processID: number };
    const { rows } = await client.query<{ own: boolean; standby: boolean }>(BEGIN, [
      processID,
      planning,
      ...NAMES.map((name) => String(this.limits?.[name] ?? 0)),
    ]);
    refuseStandby(rows[0]);
    if (!rows[0].own) await (this.inspected ??= this.inspect(client));
  }

  private async inspect(client: ClientBase): Promise<void> {
    this.keepsNames = await keepsNames(client);
    if (this.keepsNames) this.logger.log('PostgreSQL is behind a connection pooler.');
    else
      this.logger.warn(
        'PostgreSQL is behind a connection pooler that keeps no prepared statements: each statement is planned anew with every call.',
      );
    if (!this.limits) return;
    const { rows } = await client.query<{ name: keyof SessionLimits; now: number; stored: boolean }>(LIMITS, [NAMES]);
    const missing = rows.filter(({ now, stored }) => now === 0 && !stored).map(({ name }) => name);
    if (missing.length) {
      throw new Error(
        `PostgreSQL is behind a connection pooler, and its sessions have no ${missing.join(', no ')}. Run the migration as the role of DATABASE_URL, or: ` +
          missing.map((name) => `ALTER ROLE … IN DATABASE … SET ${name} = ${this.limits![name]};`).join(' '),
      );
    }
    const other = rows
      .filter(({ name, now }) => now !== this.limits![name])
      .map(({ name, now }) => `${name} is ${now} ms there and ${this.limits![name]} ms here`);
    if (other.length)
      this.logger.warn(
        `Sessions behind the pooler have the limits of their role: ${other.join(', ')}. The migration sets them; sessions that the pooler had opened before keep theirs.`,
      );
  }
}

/** A pooler that keeps prepared statements gives them names of its own. */
async function keepsNames(client: ClientBase): Promise<boolean> {
  const name = `probe_${randomBytes(8).toString('hex')}`;
  await client.query('BEGIN');
  try {
    const { rows } = await client.query<{ under_our_name: boolean }>({
      name,
      text: 'SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS under_our_name',
      values: [name],
    });
    if (rows[0].under_our_name) await client.query(`DEALLOCATE ${name}`);
    return !rows[0].under_our_name;
  } finally {
    await client.query('COMMIT');
  }
}
