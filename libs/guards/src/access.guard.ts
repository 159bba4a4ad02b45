import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DomainError, type Problem } from '@aps/contracts';
import { isUuid, SLUG } from '@aps/platform/http';
import { ACCESS, type AccessDeclaration, type ParamSyntax, type TokenArea } from './access';
import { OrgScope } from './org-scope';
import { PrincipalStore } from './principal.store';
import { Tickets, type Ticket } from './tickets';
import type { AuthenticatedRequest, Principal } from './principal';

/** Finds out who makes a request. The gateway reads bearer tokens; what stands behind it reads the gateway's signed token. */
export abstract class Authenticator {
  /** @throws DomainError `not_authenticated` and its kin */
  abstract authenticate(request: AuthenticatedRequest): Promise<Principal>;
}

const SYNTAX: Record<ParamSyntax, { ok: (value: string) => boolean; msg: string; type: string }> = {
  uuid: { ok: isUuid, msg: 'Input should be a valid UUID', type: 'uuid_parsing' },
  slug: { ok: (v) => SLUG.test(v) && v.length <= 64, msg: 'Input should be a slug', type: 'value_error' },
  uuid_or_slug: { ok: (v) => isUuid(v) || (SLUG.test(v) && v.length <= 64), msg: 'Input should be a UUID or a slug', type: 'value_error' },
  string: { ok: (v) => v.length <= 256 && !v.includes('\0'), msg: 'Input should be a valid string', type: 'value_error' },
  token: { ok: (v) => /^[A-Za-z0-9_-]{1,256}$/.test(v), msg: 'Input should be a token', type: 'value_error' },
};

/**
 * Lets a request in or not, in the documented order: 401, path syntax 422, membership, suspension, role and scope 403. What comes
 * later (body, existence, entitlements) is decided behind it.
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
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const access = this.reflector.get<AccessDeclaration | undefined>(ACCESS, context.getHandler());
    if (!access) throw new DomainError('insufficient_role', 'This route declares no access.');
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const params = request.params as Record<string, string>;
    let ticket: Ticket | undefined;
    if (access.ticketTopics && request.headers.authorization === undefined && request.query.ticket !== undefined) {
      ({ principal: request.principal, ticket } = await this.tickets.redeem(request.query.ticket));
    } else if (access.tier !== 'public') {
      request.principal = await this.authenticator.authenticate(request);
    }
    checkPath(params, access);
    if (!request.principal) return true;

    const principal = request.principal;
    if (access.sessionOnly && principal.via === 'api_token') throw new DomainError('insufficient_scope', 'An API token cannot do this; sign in.');
    if (access.tier === 'platform_admin') {
      if (!principal.isPlatformAdmin) throw new DomainError('platform_admin_required', 'Only platform administrators may do this.');
      // A token that is good for one organization is not good for all of them.
      if (principal.orgPin) throw new DomainError('insufficient_scope', 'The API token is confined to one organization.', { context: { required: 'admin' } });
    }
    if (access.tier === 'member' || access.tier === 'admin' || access.tier === 'owner') {
      request.orgScope = await this.enterOrg(params.org_id, principal, access.tier, request);
    }
    checkScope(principal, access, request.method);
    if (ticket && !access.ticketTopics?.(request).every((topic) => ticket.topics.includes(topic))) {
      throw new DomainError('insufficient_scope', 'The ticket is for other topics.');
    }
    return true;
  }

  private async enterOrg(orgId: string, principal: Principal, tier: 'member' | 'admin' | 'owner', request: AuthenticatedRequest): Promise<OrgScope> {
    const pinnedElsewhere = principal.orgPin !== null && principal.orgPin !== orgId;
    const membership = pinnedElsewhere ? null : await this.store.membership(orgId, principal.userId);
    // An organization that does not exist is answered the same way: nobody learns which ids are taken.
    if (!membership) throw new DomainError('not_org_member', 'You are not a member of this organization.');
    if (membership.suspended && !principal.isPlatformAdmin) throw new DomainError('org_suspended', 'This organization is suspended.');
    const required = tier === 'owner' ? ['OWNER'] : tier === 'admin' ? ['ADMIN', 'OWNER'] : null;
    if (required && !required.includes(membership.role)) {
      throw new DomainError('insufficient_role', 'Your role does not allow this.', { context: { required } });
    }
    return OrgScope.member(orgId, principal.userId, membership.role, request);
  }
}

function checkPath(params: Record<string, string>, access: AccessDeclaration): void {
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(params)) {
    const syntax = SYNTAX[access.params?.[name] ?? (name.endsWith('_id') ? 'uuid' : 'string')];
    if (!syntax.ok(value)) problems.push({ loc: ['path', name], msg: syntax.msg, type: syntax.type });
    // One spelling from here on: ids are compared as text, too, and used as keys.
    else if (isUuid(value)) params[name] = value.toLowerCase();
  }
  if (problems.length) throw new DomainError('validation_error', 'The path is not valid.', { problems });
}

/** Whether the caller's token allows this in an area; a session allows everything that its user may. */
export function mayUse({ scopes }: Principal, area: TokenArea, act: 'read' | 'write'): boolean {
  return !scopes || scopes.has('*') || scopes.has(`${area}:write`) || (act === 'read' && scopes.has(`${area}:read`));
}

function checkScope(principal: Principal, { area }: AccessDeclaration, method: string): void {
  const reads = method === 'GET' || method === 'HEAD';
  if (!area || mayUse(principal, area, reads ? 'read' : 'write')) return;
  throw new DomainError('insufficient_scope', 'The API token does not allow this.', { context: { required: `${area}:${reads ? 'read' : 'write'}` } });
}
