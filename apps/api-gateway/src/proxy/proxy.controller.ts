import { All, Controller, Req, Res, type Type } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError } from '@aps/contracts';
import { PlatformAdmin, Public, type AuthenticatedRequest, type Principal } from '@aps/guards';
import { INTERNAL_TOKEN_HEADER } from '@aps/administration/http';
import { InternalTokens } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { PROXY_FAILURES, proxyRequest } from '@aps/platform/http';
import { counter } from '@aps/platform/observability';
import type { Response } from 'express';
import { staysBelow, type ProxiedPath } from './proxied-path';

const failures = counter('proxy_failures_total', 'Requests that the service behind a proxied path did not answer', ['path', 'code']);

/** Makes the controller of a proxied path: one handler for every method and path below its prefix, behind the gateway's global guards. */
export function proxyController(proxied: ProxiedPath): Type<unknown> {
  const access = proxied.access.tier === 'public' ? Public() : PlatformAdmin();
  for (const code of Object.keys(PROXY_FAILURES)) failures.inc({ path: proxied.prefix, code }, 0);

  @ApiExcludeController()
  @Controller(proxied.prefix)
  class ProxyController {
    constructor(
      private readonly tokens: InternalTokens,
      private readonly db: Database,
    ) {}

    @All(['', '*path'])
    @access
    async pass(@Req() request: AuthenticatedRequest, @Res() response: Response): Promise<void> {
      if (!staysBelow(request.originalUrl, proxied.prefix)) throw new DomainError('not_found', 'There is nothing at this address.');
      const headers = this.identify(request);
      const code = await proxyRequest(request, response, proxied.target(), headers);
      if (code) failures.inc({ path: proxied.prefix, code });
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
