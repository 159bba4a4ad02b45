import { z } from 'zod';
import { configSection, setting } from '@aps/platform/config';

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
});
