import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Asks Redis once whether it drops keys when its memory is full: jobs would vanish without a word. One that is away, or does not say,
 * is believed.
 *
 * @throws Error that says what it is set to
 */
export async function proveNoEviction(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).catch(() => undefined);
  if (redis.status !== 'ready') return;
  const info = await redis.info('memory').catch((error: Error) => {
    new Logger('Redis').warn(`Redis does not tell its maxmemory-policy, which must be noeviction: ${error.message}`);
    return '';
  });
  // The one in JavaScript has neither a policy nor a bound.
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
  if (policy !== 'noeviction')
    throw new Error(`Redis drops jobs when its memory is full: its maxmemory-policy is ${policy}, and must be noeviction.`);
}
