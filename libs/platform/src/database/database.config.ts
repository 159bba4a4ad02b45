import { z } from 'zod';
import { configSection, integer, setting } from '@aps/platform/config';

export const databaseConfig = configSection('database', {
  url: setting(
    'DATABASE_URL',
    z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
    'PostgreSQL connection, postgres://user:password@host:5432/name; may lead to a PgBouncer in transaction mode',
    {
      secret: true,
    },
  ),
  directUrl: setting(
    'DATABASE_DIRECT_URL',
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
      .optional(),
    'The same database as the same role past any pooler, for the one session by which a worker is known to live; without, a lost worker is noticed when its leases run out',
    { secret: true },
  ),
  poolSize: setting(
    'DATABASE_POOL_SIZE',
    integer(16, 1, 500),
    'Connections that one process keeps at most, beside one that /readyz asks by, one for each kind of statement that goes in batches and the direct session: 9 in all, of a gateway 2',
  ),
  connectTimeoutMs: setting(
    'DATABASE_CONNECT_TIMEOUT_MS',
    integer(5_000, 100),
    'A connection that is not there by then is given up, as is waiting for a free one of the pool',
  ),
  statementTimeoutMs: setting(
    'DATABASE_STATEMENT_TIMEOUT_MS',
    integer(10_000, 100),
    'Statements longer than this are cancelled; behind a pooler as the migration was told',
  ),
  lockTimeoutMs: setting(
    'DATABASE_LOCK_TIMEOUT_MS',
    integer(3_000, 100),
    'Waiting for a row lock longer than this fails; behind a pooler as the migration was told',
  ),
});
