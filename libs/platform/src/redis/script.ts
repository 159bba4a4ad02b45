import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script that works on one key. */
export class Script {
  private readonly sha: string;

  constructor(private readonly lua: string) {
    this.sha = createHash('sha1').update(lua).digest('hex');
  }

  async run(redis: Redis, key: string, ...args: (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.sha, 1, key, ...args);
    } catch (error) {
      // A Redis that was restarted has forgotten the script.
      if (!/NOSCRIPT/.test((error as Error).message)) throw error;
      return redis.eval(this.lua, 1, key, ...args);
    }
  }
}
