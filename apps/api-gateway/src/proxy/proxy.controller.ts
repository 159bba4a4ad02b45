import { All, Controller, Req, Res, type Type } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError } from '@aps/contracts';
import { PlatformAdmin, Public, type AuthenticatedRequest, type Principal } from '@aps/guards';
import { INTERNAL_TOKEN_HEADER } from '@aps/administration/http';
import { InternalTokens } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { PROXY_FAILURES, proxyRequest } from '@aps/platform/http';
import { counter } from '@aps/platform/observability';
import { callerOf } from '@aps/platform/rate-limit';
import type { Response } from 'express';
import { staysBelow, type ProxiedPath } from './proxied-path';

const failures = counter('proxy_failures_total', 'Requests that the service behind a proxied path did not answer', ['path', 'code']);

/** Requests that one address may have under way at a public path: each holds a connection to the service behind, for as long as its body takes to come. */
const MAX_OPEN = 64;

/** Makes the controller of a proxied path: one handler for every method and path below its prefix, behind the gateway's global guards. */
export function proxyController(proxied: ProxiedPath): Type<unknown> {
  const access = proxied.access.tier === 'public' ? Public() : PlatformAdmin();
  for (const code of Object.keys(PROXY_FAILURES)) failures.inc({ path: proxied.prefix, code }, 0);

  @ApiExcludeController()
  @Controller(proxied.prefix)
  class ProxyController {
    /** Requests under way, by whose they are. */
    private readonly open = new Map<string, number>();

    constructor(
      private readonly tokens: InternalTokens,
      private readonly db: Database,
    ) {}

    @All(['', '*path'])
    @access
    async pass(@Req() request: AuthenticatedRequest, @Res() response: Response): Promise<void> {
      if (!staysBelow(request.originalUrl, proxied.prefix)) throw new DomainError('not_found', 'There is nothing at this address.');
      const headers = this.identify(request);
      if (proxied.access.tier === 'public') this.admit(callerOf(request.ip), response);
      const code = await proxyRequest(request, response, proxied.target(), headers);
      if (code) failures.inc({ path: proxied.prefix, code });
    }

    /** Whoever holds many requests up, sending slowly, leaves the way open for others. */
    private admit(caller: string, response: Response): void {
      // The client left while the guards were asked, and will not leave again.
      if (response.destroyed) return;
      const open = this.open.get(caller) ?? 0;
      if (open >= MAX_OPEN)
        throw new DomainError('service_unavailable', 'Too many requests of this address are under way.', { retryAfterS: 1 });
      this.open.set(caller, open + 1);
      response.once('close', () => {
        const left = this.open.get(caller)! - 1;
        if (left) this.open.set(caller, left);
        else this.open.delete(caller);
      });
    }

    /** What the service behind is told about the caller. */
    private identify({ principal, requestId, headers: { authorization } }: AuthenticatedRequest): Record<string, string> {
      if (proxied.access.tier === 'public') return proxied.access.provenBy && authorization ? { authorization } : {};
      if (!principal) throw new DomainError('not_authenticated', 'Not authenticated');
      return {
        [INTERNAL_TOKEN_HEADER]: this.tokens.sign(
          { ...claimsOf(principal), request_id: requestId, aud: proxied.access.audience },
          this.db.now(),
        ),
      };
    }
  }
  Object.defineProperty(ProxyController, 'name', { value: `${proxied.name}ProxyController` });
  return ProxyController;
}

const claimsOf = (principal: Principal) => ({
  user_id: principal.userId,
  email: principal.email,
  credential_id: principal.credentialId,
  scope: principal.scopes ? [...principal.scopes].join(' ') : '*',
});
