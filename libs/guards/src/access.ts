import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { ApiBearerAuth, ApiExtension, ApiParam, ApiQuery } from '@nestjs/swagger';
import { PROJECT_RESOURCE_TYPES, SLUG, type TokenArea } from '@aps/contracts';
import { ACCESS } from '@aps/platform/http';
import type { ProvenCaller } from '@aps/platform/rate-limit';
import type { Request } from 'express';

/** Who may call a route. */
export type Tier = 'public' | 'user' | 'member' | 'admin' | 'owner' | 'platform_admin';

/** How a path parameter must look before anything is looked up. */
export type ParamSyntax = 'uuid' | 'uuid_or_slug' | 'slug' | 'prefixed_id' | 'string' | 'token' | 'resource_type' | 'resource_id';

/** Knows credentials of callers that are no users. A provider of the application. */
export interface CallerProof {
  /** @throws DomainError 401 `not_authenticated` */
  prove(request: Request): Promise<ProvenCaller>;
}

export interface AccessOptions {
  /** Syntax of path parameters that differ from the rule: parameters named `*_id` are UUIDs, all others free strings. */
  params?: Record<string, ParamSyntax>;
  /** Only for public routes: nobody has to sign in, but who sends a bearer token is known by it. */
  identifies?: boolean;
  /** Only for public routes: tells by the headers whether the caller has a credential that no user has. It is asked before the body is read. */
  provenBy?: Type<CallerProof>;
  /** It changes nothing, although it is no GET: API tokens need the read scope of its area alone. */
  reads?: boolean;
  /** What it shows is of this area too: API tokens need also the read scope of that. */
  shows?: TokenArea;
  /** Callers that hold an API token are refused; only a session will do. */
  sessionOnly?: boolean;
  /**
   * The route also takes `?ticket=` instead of a bearer token, if the ticket is for every topic that this says the request asks for.
   * Only for reads, and where browsers cannot send a header.
   */
  ticketTopics?: (request: Request) => string[];
}

export interface AccessDeclaration extends AccessOptions {
  tier: Tier;
  area: TokenArea | null;
}

export { ACCESS };

/** The last part of a mailed link. */
export const LINK_TOKEN = /^[A-Za-z0-9_-]{1,256}$/;

/** A kind, and a ULID in lower case. */
const PREFIXED_ID = '^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$';

/** What the API document says of a path parameter that is no plain id. */
function documentOf(name: string, syntax: ParamSyntax): { description: string; schema: object } {
  const slug = { type: 'string', maxLength: 64, pattern: SLUG.source };
  if (syntax === 'token')
    return { description: 'The last part of the mailed link.', schema: { type: 'string', pattern: LINK_TOKEN.source } };
  // One that has not the form of such an id names nothing, and is not refused for that.
  if (syntax === 'prefixed_id')
    return {
      description: `Id of the ${name.slice(0, -'_id'.length).replaceAll('_', ' ')}.`,
      schema: { type: 'string', pattern: PREFIXED_ID },
    };
  if (syntax === 'resource_type') return { description: 'What it is.', schema: { type: 'string', enum: [...PROJECT_RESOURCE_TYPES] } };
  if (syntax === 'resource_id') return { description: 'Its id.', schema: { type: 'string', maxLength: 64 } };
  // An id fits the pattern of slugs. So documented is also what is looked up as either, whatever it looks like.
  if (name.endsWith('_id')) return { description: `Id or slug of the ${name.slice(0, -'_id'.length).replaceAll('_', ' ')}.`, schema: slug };
  return syntax === 'slug' ? { description: 'Its slug.', schema: slug } : { description: `The ${name}.`, schema: { type: 'string' } };
}

/** Of a handler; or of a controller, for each handler that has none of its own. */
function access(tier: Tier, area: TokenArea | null, options: AccessOptions): ClassDecorator & MethodDecorator {
  const declaration: AccessDeclaration = { tier, area, ...options };
  const declare = applyDecorators(
    SetMetadata(ACCESS, declaration),
    ApiExtension('x-access', {
      tier,
      ...(area && { area }),
      ...(options.sessionOnly && { session_only: true }),
      ...(options.ticketTopics && { ticket: true }),
      ...(options.identifies && { identifies: true }),
      ...(options.reads && { reads: true }),
      ...(options.shows && { shows: options.shows }),
    }),
    ...(tier === 'public' ? [] : [ApiBearerAuth()]),
    ...Object.entries(options.params ?? {}).map(([name, syntax]) => ApiParam({ name, ...documentOf(name, syntax) })),
    ...(options.ticketTopics
      ? [
          ApiQuery({
            name: 'ticket',
            required: false,
            description: 'Instead of the header, where none can be sent: from `POST /api/realtime/tickets`.',
            schema: { type: 'string' },
          }),
        ]
      : []),
  );
  return (target: object, key?: string | symbol, handler?: PropertyDescriptor) => {
    if (key !== undefined) return declare(target, key, handler);
    const prototype = (target as Type<object>).prototype as object;
    for (const [name, method] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const value: unknown = method.value;
      if (typeof value !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, value)) continue;
      if (!Reflect.hasMetadata(ACCESS, value)) declare(prototype, name, method);
    }
  };
}

/** Anyone, without signing in. */
export const Public = (options: AccessOptions = {}) => access('public', null, options);
/** Any signed-in user. */
export const SignedIn = (area: TokenArea | null = null, options: AccessOptions = {}) => access('user', area, options);
/** Any member of the organization in the path (`:org_id`). */
export const OrgMember = (area: TokenArea, options: AccessOptions = {}) => access('member', area, options);
/** ADMIN or OWNER of the organization. */
export const OrgAdmin = (area: TokenArea, options: AccessOptions = {}) => access('admin', area, options);
/** OWNER of the organization. */
export const OrgOwner = (area: TokenArea, options: AccessOptions = {}) => access('owner', area, options);
/** A platform operator. */
export const PlatformAdmin = (options: AccessOptions = {}) => access('platform_admin', 'admin', options);
