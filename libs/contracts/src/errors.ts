/**
 * Every error code the service answers with, and the HTTP status it travels under.
 *
 * One exhaustive record: a code that is not here cannot be thrown, and a client can read the whole vocabulary in one place.
 * 422 codes are semantic refusals and are answered in the `HTTPValidationError` shape.
 */
export const ERROR_STATUS = {
  // 400
  bad_request: 400,
  idempotency_key_invalid: 400,
  // 401
  not_authenticated: 401,
  user_deactivated: 401,
  invalid_credentials: 401,
  // 402
  credits_exhausted: 402,
  budget_exceeded: 402,
  // 403
  registration_not_allowed: 403,
  insufficient_scope: 403,
  insufficient_role: 403,
  not_org_member: 403,
  org_suspended: 403,
  platform_admin_required: 403,
  creator_only: 403,
  entitlement_required: 403,
  entitlement_exceeded: 403,
  read_only: 403,
  invitation_email_mismatch: 403,
  // 404
  not_found: 404,
  user_not_found: 404,
  // 405
  method_not_allowed: 405,
  // 409
  already_admin: 409,
  already_allowed: 409,
  already_member: 409,
  already_resolved: 409,
  agent_deleted: 409,
  agent_in_use: 409,
  conflict: 409,
  email_taken: 409,
  idempotency_in_progress: 409,
  invitation_pending: 409,
  last_admin: 409,
  last_owner: 409,
  model_conflict: 409,
  model_in_use: 409,
  never_admitted: 409,
  no_draft: 409,
  not_pending: 409,
  route_in_use: 409,
  skill_in_use: 409,
  slug_taken: 409,
  version_conflict: 409,
  // 410
  invitation_gone: 410,
  // 413
  payload_too_large: 413,
  // 415
  unsupported_media_type: 415,
  // 416
  range_not_satisfiable: 416,
  // 422
  validation_error: 422,
  allowlist_needs_default: 422,
  base_url_needs_own_key: 422,
  cannot_unarchive: 422,
  follows_root: 422,
  exactly_one_required: 422,
  idempotency_mismatch: 422,
  instruction_too_long: 422,
  masked_secret: 422,
  model_not_allowed: 422,
  model_unknown: 422,
  not_continuable: 422,
  nothing_to_retry: 422,
  number_unsafe: 422,
  not_disputed: 422,
  password_incorrect: 422,
  plan_mismatch: 422,
  replacement_cycle: 422,
  reset_token_invalid: 422,
  route_borrows_key: 422,
  self_action: 422,
  should_have_missing: 422,
  unknown_reference: 422,
  verification_invalid: 422,
  // 429
  queue_full: 429,
  rate_limited: 429,
  too_many_attempts: 429,
  // 5xx
  internal_error: 500,
  upstream_unavailable: 502,
  dispatch_failed: 503,
  service_unavailable: 503,
  upstream_timeout: 504,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One problem of a request, in the form that a 422 lists. `loc[0]` is `body`, `query`, `path` or `header`. */
export interface Problem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

export interface DomainErrorOptions {
  /** Facts that let a client act on the error. Never secrets, never input values. */
  context?: Record<string, unknown>;
  /** Only for 422: the places in the request that the refusal is about. Default: the body as a whole. */
  problems?: Problem[];
  /** Only for 429 and 503: seconds after which a retry makes sense. */
  retryAfterS?: number;
  cause?: unknown;
}

/**
 * A refusal that the caller is meant to see.
 *
 * @param code decides the HTTP status through {@link ERROR_STATUS}
 * @param detail one sentence, in the words of the caller's world
 */
export class DomainError extends Error {
  readonly status: number;
  readonly context?: Record<string, unknown>;
  readonly problems?: Problem[];
  readonly retryAfterS?: number;

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    options: DomainErrorOptions = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.status = ERROR_STATUS[code];
    this.context = options.context;
    this.problems = options.problems;
    this.retryAfterS = options.retryAfterS;
  }
}

/** 404 in the one wording that the whole service uses; what a caller may not see is answered the same way. */
export function notFound(what: string): DomainError {
  return new DomainError('not_found', `${what} not found.`);
}

/** A semantic 422 about one field of the body, e.g. `refuseField('model_not_allowed', ['model'], '…')`. */
export function refuseField(code: ErrorCode, path: (string | number)[], msg: string, context?: Record<string, unknown>): DomainError {
  return new DomainError(code, msg, { context, problems: [{ loc: ['body', ...path], msg, type: `semantic.${code}` }] });
}
