import { Inject, Injectable } from '@nestjs/common';
import { CommandRedis, redisConfig, Script } from '@aps/platform/redis';
import type { Redis } from 'ioredis';

/** How often a viewer says that they are there, seconds. */
export const HEARTBEAT_S = 15;
/** After so long without a word a viewer is gone, seconds. */
export const EXPIRES_S = 45;

/** The set outlives its viewers for a while, so that whoever looks can tell who has aged out. */
const KEPT_MS = (EXPIRES_S + 60) * 1_000;
const DUE_AT_ONCE = 100;

/** A sorted set per chat: its viewers, scored by the time (of Redis) at which they are gone. */
const CHANGE = new Script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
local changed = 0
if ARGV[1] == 'stay' then changed = redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]), ARGV[2]) end
if ARGV[1] == 'leave' then changed = redis.call('ZREM', KEYS[1], ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {string.format('%.0f', now), changed, gone, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}`);

/** Takes chats out of the list of those to look at, so that of all gateways one looks at each. */
const CLAIM_DUE = new Script(`
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for i = 1, #due do redis.call('ZREM', KEYS[1], due[i]) end
return due`);

export interface ChatRef {
  orgId: string;
  chatId: string;
}

export interface PresenceState {
  /** Viewers now, and when each last said so. */
  seen: Map<string, Date>;
  /** Somebody has come or gone since the last look. */
  changed: boolean;
}

/** Who has which chat open, in Redis alone: it is of the moment, and lost without harm. Everything here throws while Redis is away. */
@Injectable()
export class PresenceStore {
  constructor(@Inject(CommandRedis) private readonly redis: Redis) {}

  stay(chat: ChatRef, userId: string): Promise<PresenceState> {
    return this.change(chat, 'stay', userId);
  }

  leave(chat: ChatRef, userId: string): Promise<PresenceState> {
    return this.change(chat, 'leave', userId);
  }

  /** Looks who has aged out. */
  age(chat: ChatRef): Promise<PresenceState> {
    return this.change(chat, 'age', '');
  }

  /** Chats in which a viewer may have aged out, each told to one caller once. */
  async takeDue(): Promise<ChatRef[]> {
    const members = (await CLAIM_DUE.run(this.redis, dueKey(), DUE_AT_ONCE)) as string[];
    return members.map((member) => {
      const [orgId, chatId] = member.split(':');
      return { orgId, chatId };
    });
  }

  private async change(chat: ChatRef, act: 'stay' | 'leave' | 'age', userId: string): Promise<PresenceState> {
    const answer = await CHANGE.run(this.redis, keyOf(chat), act, userId, EXPIRES_S * 1_000, KEPT_MS);
    const [now, changed, gone, scored] = answer as [string, number, string[], string[]];
    const seen = new Map<string, Date>();
    let firstEnd = Infinity;
    for (let i = 0; i < scored.length; i += 2) {
      const end = Number(scored[i + 1]);
      firstEnd = Math.min(firstEnd, end);
      seen.set(scored[i], new Date(end - EXPIRES_S * 1_000));
    }
    // After the set: whoever has just taken the chat off the list has then seen this viewer, or finds the chat on it again.
    if (seen.size > 0) await this.redis.zadd(dueKey(), 'NX', Math.max(firstEnd, Number(now)), `${chat.orgId}:${chat.chatId}`);
    // Who had aged out and is back has never been away for the others.
    const back = changed === 1 && act === 'stay' && gone.includes(userId);
    const away = back ? gone.length - 1 : gone.length;
    return { seen, changed: away > 0 || (changed === 1 && !back) };
  }
}

const keyOf = ({ chatId }: ChatRef): string => `${redisConfig.value.prefix}:presence:${chatId}`;
const dueKey = (): string => `${redisConfig.value.prefix}:presence-due`;
