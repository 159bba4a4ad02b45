import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { CommandRedis, redisConfig, Script } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { notAuthenticated, PrincipalStore, type CredentialRef } from './principal.store';
import type { Principal } from './principal';

/** How long a ticket waits for its stream, seconds. */
export const TICKET_TTL_S = 60;

const TICKET = /^[A-Za-z0-9_-]{43}$/;
const TAKE = new Script(`
local found = redis.call('GET', KEYS[1])
if found then redis.call('DEL', KEYS[1]) end
return found`);

/** What a ticket was issued for. */
export interface Ticket {
  /** The organization whose streams it opens; null leaves that to its topics. */
  orgId: string | null;
  topics: string[];
}

interface StoredTicket extends Ticket {
  credential: CredentialRef;
}

/**
 * Stand in for a bearer token where a browser can send none: once, within a minute, for a stream of certain topics. A ticket is no more
 * than a reference to the credential that it was asked for with, so whatever ends that one ends it, and the stream that it opened.
 */
@Injectable()
export class Tickets {
  constructor(
    @Inject(CommandRedis) private readonly redis: Redis,
    private readonly principals: PrincipalStore,
  ) {}

  /** @throws DomainError 403 `not_org_member` for another organization than the one that an API token is confined to; 503 `service_unavailable` while Redis is away */
  async issue({ via, credentialId, orgPin }: Principal, { orgId, topics }: Ticket): Promise<string> {
    if (via === 'internal') throw notAuthenticated();
    if (orgPin && orgId && orgPin !== orgId) throw new DomainError('not_org_member', 'You are not a member of this organization.');
    const credential = { via, id: credentialId };
    // What is made from a credential is made from one that lives, and not from the memory of one.
    await this.principals.byCredential(credential, true);
    const text = newOpaqueToken();
    const stored: StoredTicket = { orgId: orgId ?? orgPin, topics, credential };
    await answered(this.redis.set(keyOf(text), JSON.stringify(stored), 'EX', TICKET_TTL_S));
    return text;
  }

  /**
   * Uses a ticket up, whatever becomes of the request.
   *
   * @throws DomainError 401 for one that is unknown, expired or used, or whose credential has ended; 503 `service_unavailable`
   */
  async redeem(text: unknown): Promise<{ principal: Principal; ticket: Ticket }> {
    if (typeof text !== 'string' || !TICKET.test(text)) throw notAuthenticated();
    const found = (await answered(TAKE.run(this.redis, keyOf(text)))) as string | null;
    if (!found) throw notAuthenticated();
    const { credential, orgId, topics } = JSON.parse(found) as StoredTicket;
    // A stream lasts: it begins for a credential that lives, and not for the memory of one.
    const principal = await this.principals.byCredential(credential, true);
    return { principal, ticket: { orgId, topics } };
  }
}

/** The hash: what Redis holds opens nothing. */
const keyOf = (text: string): string => `${redisConfig.value.prefix}:ticket:${hashToken(text).toString('base64url')}`;

async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    throw new DomainError('service_unavailable', 'Tickets cannot be had right now. Try again, or send the bearer token.', {
      cause,
      retryAfterS: 2,
    });
  }
}
