import { type Caller, Tenant } from '@aps/platform/database';

export const ORG_ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
export type OrgRole = (typeof ORG_ROLES)[number];

/** Who acts, as audit rows and records of authorship keep it, and on whose right it rests. */
export interface Actor extends Caller {
  /** `operator` for what platform administrators do through the admin surface. */
  kind: 'user' | 'operator' | 'system';
  /** Null for the system. */
  userId: string | null;
  /** Why the system acts; null for people. */
  reason: string | null;
  requestId?: string;
}

/** A person who acts. */
export interface ActingUser extends Actor {
  kind: 'user' | 'operator';
  userId: string;
}

interface OfRequest extends Caller {
  requestId?: string;
}

export const actingUser = (userId: string, { requestId, confirm }: OfRequest = {}): ActingUser => ({
  kind: 'user',
  userId,
  reason: null,
  requestId,
  confirm,
});
export const actingOperator = (userId: string, request: OfRequest): ActingUser => ({ ...actingUser(userId, request), kind: 'operator' });

/**
 * The tenant that a piece of code works for. Repositories take it as their first argument, so a query without its organization does
 * not type-check; and since nothing but the guard, a job and {@link OrgScope.system} can make one, it cannot be made from input.
 */
export class OrgScope extends Tenant implements Caller {
  private constructor(
    readonly orgId: string,
    readonly actor: Actor,
    /** The caller's role; null for the system. */
    readonly role: OrgRole | null,
    readonly requestId: string | undefined,
    readonly traceparent: string | undefined,
    /** Session or API token of the caller; none for the system. */
    readonly credentialId?: string,
    readonly confirm?: Caller['confirm'],
  ) {
    super();
  }

  /** For a member's request. Only the access guard calls this. */
  static member(
    orgId: string,
    userId: string,
    role: OrgRole,
    request: { requestId?: string; traceparent?: string; principal?: { credentialId: string }; confirm?: Caller['confirm'] } = {},
  ): OrgScope {
    return new OrgScope(
      orgId,
      actingUser(userId, request),
      role,
      request.requestId,
      request.traceparent,
      request.principal?.credentialId,
      request.confirm,
    );
  }

  /** For jobs and operators. The reason ends up in the audit log. */
  static system(orgId: string, reason: string, request: { requestId?: string; traceparent?: string } = {}): OrgScope {
    return new OrgScope(
      orgId,
      { kind: 'system', userId: null, reason, requestId: request.requestId },
      null,
      request.requestId,
      request.traceparent,
    );
  }

  /** The acting user. Throws for the system: code that needs a person must not run without one. */
  get userId(): string {
    if (this.actor.userId === null) throw new Error('This needs a user, but the system acts.');
    return this.actor.userId;
  }

  get isAdmin(): boolean {
    return this.role === 'ADMIN' || this.role === 'OWNER';
  }
}
