import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '@aps/platform/database';
import type { RequestContext } from '@aps/platform/http';
import type { RateDecision } from '@aps/platform/rate-limit';
import type { OrgScope } from './org-scope';

/** Who makes a request, as the guard found out. */
export interface Principal {
  userId: string;
  email: string;
  name: string;
  isPlatformAdmin: boolean;
  /** How they proved it. */
  via: 'session' | 'api_token' | 'internal';
  /** Id of the session or API token; the owner of rate limits and idempotency keys. */
  credentialId: string;
  /** Name of the identity provider that a session began at; null: a password, or no session. */
  provider: string | null;
  /** What an API token may do; null = everything its user may. */
  scopes: ReadonlySet<string> | null;
  /** The only organization that an API token is good for; null = all of its user's. */
  orgPin: string | null;
}

/** A request after the access guard. */
export interface AuthenticatedRequest extends Request, RequestContext {
  principal?: Principal;
  /** Where their session or token stands by its limit of requests. */
  rate?: RateDecision;
  /** Throws when the caller may not do any more what they were let in for: asked by what they write, at its commit. */
  confirm?: Caller['confirm'];
  orgScope?: OrgScope;
}

export const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>();

/** The signed-in caller. */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).principal);

/** The organization that the route is about, with what the caller is in it. First argument of every repository. */
export const CurrentOrg = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).orgScope);
