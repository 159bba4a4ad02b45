import { All, Controller, Req, Res, type Type } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError } from '@aps/contracts';
import { PlatformAdmin, Public, type AuthenticatedRequest, type Principal } from '@aps/guards';
import { INTERNAL_TOKEN_HEADER } from '@aps/administration/http';
import { InternalTokens } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { bodyUpTo, hasBody, HeldBytes, PROXY_FAILURES, proxyRequest, staysBelow, type BegunBody } from '@aps/platform/http';
import { counter } from '@aps/platform/observability';
import { callerOf, rateLimitConfig } from '@aps/platform/rate-limit';
import type { Response } from 'express';
import type { ProxiedPath } from './proxied-path';

/** Bytes of bodies that a process has read and not got an answer to yet, of all callers to a path. What has no room among them is streamed. */
const WHOLE_BODIES = 64 * 1024 * 1024;

const failures = counter('proxy_failures_total', 'Requests that the service behind a proxied path did not answer', ['path', 'code']);

/** Makes the controller of a proxied path: one handler for every method and path below its prefix, behind the gateway's global guards. */
export function proxyController(proxied: ProxiedPath): Type<unknown> {
  const access = proxied.access.tier === 'public' ? Public() : PlatformAdmin();
  for (const code of Object.keys(PROXY_FAILURES)) failures.inc({ path: proxied.prefix, code }, 0);

  @ApiExcludeController()
  @Controller(proxied.prefix)
  class ProxyController {
    /** Requests whose bodies are coming, by whose they are: where bodies are streamed, each holds a connection to the service behind. */
    private readonly open = new Map<string, number>();
    private readonly bytes = new HeldBytes();

    constructor(
      private readonly tokens: InternalTokens,
      private readonly db: Database,
    ) {}

    @All(['', '*path'])
    @access
    async pass(@Req() request: AuthenticatedRequest, @Res() response: Response): Promise<void> {
      if (!staysBelow(request.originalUrl, proxied.prefix)) throw new DomainError('not_found', 'There is nothing at this address.');
      const headers = this.identify(request);
      if (proxied.access.tier === 'public') this.admit(request);
      const send = (begun?: BegunBody) => proxyRequest(request, response, proxied.target(), headers, begun);
      const code = proxied.wholeBodies && hasBody(request) ? await this.whole(request, proxied.wholeBodies, send) : await send();
      if (code) failures.inc({ path: proxied.prefix, code });
    }

    /** Of a body that takes longer than the service behind may, the caller would not hear any more. */
    private whole<T>(request: AuthenticatedRequest, limit: number, send: (begun: BegunBody) => Promise<T>): Promise<T> {
      const timer = setTimeout(() => request.destroy(), proxied.target().timeoutMs);
      return this.bytes.sharing(WHOLE_BODIES, `of ${callerOf(request.ip)}`, async (hold) =>
        send(await bodyUpTo(request, limit, (bytes) => !hold(bytes)).finally(() => clearTimeout(timer))),
      );
    }

    /** Whoever sends many bodies slowly leaves the way open for others. */
    private admit(request: AuthenticatedRequest): void {
      const { enabled, bodies_per_address: limit } = rateLimitConfig.value;
      if (!enabled || !limit || !hasBody(request) || request.complete || request.destroyed) return;
      const caller = callerOf(request.ip);
      const open = this.open.get(caller) ?? 0;
      if (open >= limit)
        throw new DomainError('service_unavailable', 'Too many bodies are coming from this address.', { retryAfterS: 1, ofOne: true });
      this.open.set(caller, open + 1);
      let isOver = false;
      const free = () => {
        if (isOver) return;
        isOver = true;
        const left = this.open.get(caller)! - 1;
        if (left) this.open.set(caller, left);
        else this.open.delete(caller);
      };
      request.once('end', free).once('close', free);
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
