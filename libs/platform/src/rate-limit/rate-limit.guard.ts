import { CanActivate, ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DomainError } from '@aps/contracts';
import type { Request, Response } from 'express';
import ipaddr from 'ipaddr.js';
import { RateLimiter, type RateDecision } from './limiter';
import { rateLimitConfig, RULES, type RuleName } from './rate-limit.config';

const RATE_LIMIT = 'aps:rate-limit';

/** Puts a handler (or all of a controller) under a limit of its own, beside the one that every session and token has. */
export const RateLimit = (rule: RuleName) => SetMetadata(RATE_LIMIT, rule);

/** An address in its shortest form, IPv4 as such; null where there is none. */
export function addressOf(ip: string | undefined): string | null {
  try {
    return ip ? ipaddr.process(ip.replace(/%.*$/, '')).toString() : null;
  } catch {
    return null;
  }
}

/** What is counted as one caller: an IPv4 address, or the /64 that a provider hands to one subscriber. */
export function callerOf(ip: string | undefined): string {
  if (!ip) return 'unknown';
  try {
    const address = ipaddr.process(ip.replace(/%.*$/, ''));
    if (address.kind() === 'ipv4') return address.toString();
    return `${(address as ipaddr.IPv6).parts
      .slice(0, 4)
      .map((p) => p.toString(16))
      .join(':')}::/64`;
  } catch {
    return 'unknown';
  }
}

/**
 * Says where a request stands, by the limit that it is closest to.
 *
 * @param response is told in its headers; what has none, as an upgrade, is only held
 * @returns true
 * @throws DomainError 429 `rate_limited`
 */
export function holdToRates(asked: readonly (RateDecision | undefined)[], response?: Response): true {
  const decisions = asked.filter((d) => d !== undefined);
  const tightest = decisions.reduce<RateDecision | undefined>(
    (a, b) => (!a || b.retryAfterS > a.retryAfterS || (b.retryAfterS === a.retryAfterS && b.remaining < a.remaining) ? b : a),
    undefined,
  );
  if (!tightest) return true;
  response?.setHeader('RateLimit-Limit', String(tightest.limit));
  response?.setHeader('RateLimit-Remaining', String(tightest.remaining));
  response?.setHeader('RateLimit-Reset', String(tightest.resetS));
  if (!tightest.allowed)
    throw new DomainError('rate_limited', 'Too many requests. Try again later.', { retryAfterS: tightest.retryAfterS });
  return true;
}

/** A caller that is no user: the credential that its requests are counted by, and whose it is. */
export interface ProvenCaller {
  credentialId: string;
  ownerId: string;
}

/** A request, with what the access guard puts on it: who makes it, and where they stand. */
export interface CountedRequest extends Request {
  principal?: { userId: string; credentialId: string; via?: string };
  rate?: RateDecision;
  /** As whom its body is counted: its user, whoever owns a caller that is no user, else its address. */
  countedAs?: string;
}

/** Counts a request of a credential. */
export function takeOf(limiter: RateLimiter, credentialId: string): Promise<RateDecision | undefined> {
  const { token, tokenBurst } = rateLimitConfig.value;
  return limiter.take(`token:${credentialId}`, { perMinute: token, burst: tokenBurst });
}

/**
 * Counts a request of a session, of a token, or of another credential. The access guard asks as soon as it knows who calls: what it refuses costs as much as what it lets
 * in, or more, and is counted like that.
 *
 * @param proven a caller that is no user
 * @throws DomainError 429 `rate_limited`
 */
export async function holdCaller(limiter: RateLimiter, request: CountedRequest, response: Response, proven?: ProvenCaller): Promise<void> {
  const { principal } = request;
  request.countedAs = principal?.userId ?? proven?.ownerId ?? callerOf(request.ip);
  const credential = principal?.credentialId ?? proven?.credentialId;
  // Behind the gateway, which has counted the request already.
  if (!credential || principal?.via === 'internal') return;
  request.rate = await takeOf(limiter, credential);
  holdToRates([request.rate], response);
}

const whoIs = (counted: (typeof RULES)[RuleName], principal: CountedRequest['principal']): string | undefined =>
  counted === 'user' ? principal?.userId : counted === 'credential' ? principal?.credentialId : undefined;

/**
 * Holds requests to the limits of their routes. Runs after the access guard, which has counted them by their caller.
 *
 * A refused request gets 429 with `Retry-After`; every counted one learns where it stands by `RateLimit-Limit`, `-Remaining` and
 * `-Reset` (of the limit that it is closest to).
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (!this.limiter.enabled || context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    const { principal, rate, ip } = http.getRequest<CountedRequest>();
    if (principal?.via === 'internal') return true;
    const config = rateLimitConfig.value;
    const rule = this.reflector.getAllAndOverride<RuleName | undefined>(RATE_LIMIT, [context.getHandler(), context.getClass()]);
    if (!rule || !config[rule]) return true;
    const who = whoIs(RULES[rule], principal) ?? callerOf(ip);
    const asked = this.limiter.take(`${rule}:${who}`, { perMinute: config[rule] });
    return asked.then((own) => holdToRates([rate, own], http.getResponse<Response>()));
  }
}
