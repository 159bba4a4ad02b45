import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { DomainError, isSlug, isUuid, PROJECT_RESOURCE_TYPES, type Problem, requireValid, type TokenArea } from '@aps/contracts';
import { credentialsIn } from '@aps/platform/http';
import { holdCaller, RateLimiter } from '@aps/platform/rate-limit';
import { ACCESS, LINK_TOKEN, type AccessDeclaration, type ParamSyntax, type Tier } from './access';
import type { Response } from 'express';
import { OpenLists } from './open-lists';
import { OrgScope } from './org-scope';
import type { Membership } from './principal.sql';
import { PrincipalStore, type Standing } from './principal.store';
import { SignInRules, ssoRequired } from './sign-in-rules';
import { Tickets, type Ticket } from './tickets';
import type { AuthenticatedRequest, Principal } from './principal';

/** Finds out who makes a request. The gateway reads bearer tokens; what stands behind it reads the gateway's signed token. */
export abstract class Authenticator {
  /**
   * @param anew leaves aside what is remembered of an earlier request
   * @throws DomainError `not_authenticated` and its kin
   */
  abstract authenticate(request: AuthenticatedRequest, anew?: boolean): Promise<Principal>;
}

const anyText = (value: string) => value.length <= 256 && !value.includes('\0');

const SYNTAX: Record<ParamSyntax, { ok: (value: string) => boolean; msg: string; type: string }> = {
  uuid: { ok: isUuid, msg: 'Input should be a valid UUID', type: 'uuid_parsing' },
  slug: { ok: isSlug, msg: 'Input should be a slug', type: 'value_error' },
  uuid_or_slug: { ok: (v) => isUuid(v) || isSlug(v), msg: 'Input should be a UUID or a slug', type: 'value_error' },
  string: { ok: anyText, msg: 'Input should be a valid string', type: 'value_error' },
  prefixed_id: { ok: anyText, msg: 'Input should be a valid string', type: 'value_error' },
  resource_id: { ok: anyText, msg: 'Input should be a valid string', type: 'value_error' },
  resource_type: {
    ok: (v) => (PROJECT_RESOURCE_TYPES as readonly string[]).includes(v),
    msg: 'Input should be a type of resource',
    type: 'enum',
  },
  token: { ok: (v) => LINK_TOKEN.test(v), msg: 'Input should be a token', type: 'value_error' },
};

/**
 * Lets a request in or not, in the documented order: 401, 429 by the caller's limit, path syntax 422, membership, suspension, role, single sign-on and scope 403. What
 * comes later (body, existence, entitlements) is decided behind it.
 *
 * A handler without a declaration is denied: forgetting one must not open a door.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    @Inject(PrincipalStore) private readonly store: PrincipalStore,
    @Inject(Tickets) private readonly tickets: Tickets,
    @Inject(SignInRules) private readonly signIns: SignInRules,
    private readonly limiter: RateLimiter,
    private readonly lists: OpenLists,
    private readonly modules: ModuleRef,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const access = this.reflector.get<AccessDeclaration | undefined>(ACCESS, context.getHandler());
    if (!access) throw new DomainError('insufficient_role', 'This route declares no access.');
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    if (credentialsIn(context.getHandler()).length > 0) http.getResponse<Response>().setHeader('Cache-Control', 'no-store');
    const params = request.params as Record<string, string>;
    let ticket: Ticket | undefined;
    if (access.ticketTopics && request.headers.authorization === undefined && request.query.ticket !== undefined) {
      ({ principal: request.principal, ticket } = await this.tickets.redeem(request.query.ticket));
    } else if (access.tier !== 'public') {
      request.principal = await this.authenticator.authenticate(request);
    } else if (access.identifies && request.headers.authorization !== undefined) {
      // Anybody may call this, so nobody is refused for a token that is good for nothing.
      request.principal = await this.authenticator.authenticate(request).catch((error: unknown) => {
        if (error instanceof DomainError && error.status === 401) return undefined;
        throw error;
      });
    }
    const proven = access.provenBy && (await this.modules.get(access.provenBy, { strict: false }).prove(request));
    await holdCaller(this.limiter, request, http.getResponse<Response>(), proven);
    checkPath(params, access);
    if (!request.principal) return true;

    try {
      await this.admit(request, access, params.org_id, { ticket });
    } catch (refusal) {
      // What is remembered may be older than what lets the caller in: nobody is refused for that.
      if (!(refusal instanceof DomainError)) throw refusal;
      if (!ticket) request.principal = await this.authenticator.authenticate(request, true);
      await this.admit(request, access, params.org_id, { ticket, anew: true });
    }
    if (ticket && !access.ticketTopics?.(request).every((topic) => ticket.topics.includes(topic))) {
      throw new DomainError('insufficient_scope', 'The ticket is for other topics.');
    }
    return true;
  }

  private async admit(
    request: AuthenticatedRequest,
    access: AccessDeclaration,
    org: string | undefined,
    { ticket, anew }: { ticket?: Ticket; anew?: boolean },
  ): Promise<void> {
    const principal = request.principal!;
    const pin = ticket ? ticket.orgId : principal.orgPin;
    if (access.sessionOnly && principal.via === 'api_token')
      throw new DomainError('insufficient_scope', 'An API token cannot do this; sign in.');
    const orgId = isOfOrg(access.tier) ? org! : null;
    const pinnedElsewhere = pin !== null && pin !== orgId;
    const membership = orgId === null || pinnedElsewhere ? null : await this.store.membership(orgId, principal.userId, anew);
    const entered = requireStanding(access.tier, { isPlatformAdmin: principal.isPlatformAdmin, membership });
    if (entered && !(await this.signIns.admits(principal, orgId!))) throw ssoRequired();
    // A token that is good for one organization is not good for all of them.
    if (access.tier === 'platform_admin' && pin) {
      throw new DomainError('insufficient_scope', 'The API token is confined to one organization.', { context: { required: 'admin' } });
    }
    // All this may be a second old, and a request can take its time. What it writes is written by who is still all this.
    request.confirm = async (tx) => void requireStanding(access.tier, await this.store.standing(principal, orgId, tx));
    // And what it reads for long is read by who is.
    request.openList = async (response) => {
      // What has been done is not refused for the length of its answer.
      if (request.method === 'GET') await this.lists.admit(principal.userId, orgId, response);
      return async () => void requireStanding(access.tier, await this.store.standing(principal, orgId));
    };
    if (entered) request.orgScope = OrgScope.member(orgId!, principal.userId, entered.role, request);
    checkScope(principal, access, request.method);
  }
}

const isOfOrg = (tier: Tier): boolean => tier === 'member' || tier === 'admin' || tier === 'owner';

/** @returns what the caller is in the organization that a route of this tier is about; null for other tiers */
function requireStanding(tier: Tier, { isPlatformAdmin, membership }: Standing): Membership | null {
  if (tier === 'platform_admin' && !isPlatformAdmin)
    throw new DomainError('platform_admin_required', 'Only platform administrators may do this.');
  if (!isOfOrg(tier)) return null;
  // An organization that does not exist is answered the same way: nobody learns which ids are taken.
  if (!membership) throw new DomainError('not_org_member', 'You are not a member of this organization.');
  if (membership.suspended && !isPlatformAdmin) throw new DomainError('org_suspended', 'This organization is suspended.');
  const required = tier === 'owner' ? ['OWNER'] : tier === 'admin' ? ['ADMIN', 'OWNER'] : null;
  if (required && !required.includes(membership.role)) {
    throw new DomainError('insufficient_role', 'Your role does not allow this.', { context: { required } });
  }
  return membership;
}

function checkPath(params: Record<string, string>, access: AccessDeclaration): void {
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(params)) {
    const syntax = SYNTAX[access.params?.[name] ?? (name.endsWith('_id') ? 'uuid' : 'string')];
    if (!syntax.ok(value)) problems.push({ loc: ['path', name], msg: syntax.msg, type: syntax.type });
    // One spelling from here on: ids are compared as text, too, and used as keys.
    else if (isUuid(value)) params[name] = value.toLowerCase();
  }
  requireValid(problems);
}

/** Whether the caller's token allows this in an area; a session allows everything that its user may. */
function mayUse({ scopes }: Principal, area: TokenArea, act: 'read' | 'write'): boolean {
  return !scopes || scopes.has('*') || scopes.has(`${area}:write`) || (act === 'read' && scopes.has(`${area}:read`));
}

function checkScope(principal: Principal, { area, reads: only, shows }: AccessDeclaration, method: string): void {
  const reads = only || method === 'GET' || method === 'HEAD';
  if (area) requireScope(principal, area, reads ? 'read' : 'write');
  if (shows) requireScope(principal, shows, 'read');
}

/** @throws DomainError 403 `insufficient_scope` for a token that does not allow this in an area */
export function requireScope(principal: Principal, area: TokenArea, act: 'read' | 'write'): void {
  if (mayUse(principal, area, act)) return;
  throw new DomainError('insufficient_scope', 'The API token does not allow this.', { context: { required: `${area}:${act}` } });
}
