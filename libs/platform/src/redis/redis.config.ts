import { z } from 'zod';
import { configSection, integer, setting } from '@aps/platform/config';

export const redisConfig = configSection('redis', {
  url: setting(
    'REDIS_URL',
    z.string().regex(/^rediss?:\/\//, 'must be a redis:// or rediss:// URL'),
    'Redis connection, redis://:password@host:6379/0',
    { secret: true },
  ),
  prefix: setting(
    'REDIS_PREFIX',
    z
      .string()
      .regex(/^[a-z0-9_-]*$/)
      .default('aps'),
    'First part of every key and channel; lets several stacks share one Redis',
  ),
  commandTimeoutMs: setting(
    'REDIS_COMMAND_TIMEOUT_MS',
    integer(2_000, 100),
    'A command that is not answered by then has failed: what a caller waits for is refused, and what was to be published is left to the relay',
  ),
});
