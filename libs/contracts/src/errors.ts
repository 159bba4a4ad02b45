/**
 * Every error code the service answers with, the HTTP status it travels under, and what the API document says of it.
 *
 * One exhaustive record: a code that is not here cannot be thrown, and a client can read the whole vocabulary in one place.
 * 422 codes are semantic refusals and are answered in the `HTTPValidationError` shape.
 */
export const ERRORS = {
  // 400
  bad_request: { status: 400, means: 'the path is not percent-encoded UTF-8.' },
  invalid_state: { status: 400, means: 'the state of a consent or sign-in is unknown, used or too old, or of another browser.' },
  idempotency_key_invalid: { status: 400, means: 'the `Idempotency-Key` is not 1 to 255 visible ASCII characters.' },
  // 401
  not_authenticated: { status: 401, means: 'no valid bearer token.' },
  user_deactivated: { status: 401, means: 'the user is locked out.' },
  invalid_credentials: { status: 401, means: 'the address or the password is wrong.' },
  provider_sign_in_failed: {
    status: 401,
    means: 'the identity provider has not said, in a way that can be trusted, who this is, or that their address is theirs.',
  },
  bad_signature: { status: 401, means: 'the message is not signed as it must be.' },
  // 402
  credits_exhausted: { status: 402, means: 'the organization is out of credits.' },
  budget_exceeded: { status: 402, means: 'the budget of the organization is used up.' },
  // 403
  registration_not_allowed: { status: 403, means: 'the address may not sign up (yet); `context.waitlist_url` says where to ask.' },
  insufficient_scope: { status: 403, means: 'the API token is not good for this.' },
  insufficient_role: { status: 403, means: 'the role in the organization does not allow this.' },
  not_org_member: { status: 403, means: 'the caller is not in the organization, or there is none.' },
  org_suspended: { status: 403, means: 'the organization is suspended.' },
  platform_admin_required: { status: 403, means: 'the caller is no operator.' },
  creator_only: { status: 403, means: 'only who began the chat may change `shared`.' },
  entitlement_required: { status: 403, means: 'the plan does not allow this; `context.entitlement` says why.' },
  entitlement_exceeded: { status: 403, means: 'there are as many as there may be; `context` has the limit.' },
  sso_required: {
    status: 403,
    means:
      'the organization wants its members to sign in by its identity provider, and this session began with a password, or the API token is not confined to it; at the log-in, every organization of the user.',
  },
  read_only: { status: 403, means: 'it belongs to the system, or is only shown.' },
  signature_invalid: { status: 403, means: 'the delivery is not signed by the payment provider.' },
  signature_stale: { status: 403, means: 'the delivery was signed too long ago.' },
  experiments_disabled: { status: 403, means: 'this deployment runs no experiments.' },
  forced_roll_disabled: { status: 403, means: 'this deployment does not end periods before they are over.' },
  email_unproven: { status: 403, means: 'the caller has not proven yet that their own address is theirs.' },
  invitation_email_mismatch: { status: 403, means: 'the invitation is for another address.' },
  // 404
  not_found: { status: 404, means: 'nothing there, or nothing that the caller may see.' },
  user_not_found: { status: 404, means: 'there is no such user.' },
  price_not_found: { status: 404, means: 'the price list does not know the model.' },
  // 405
  method_not_allowed: { status: 405, means: 'the address takes other methods; `Allow` has them.' },
  // 409
  concurrency_limit: { status: 409, means: 'as many runs of this key are at work as may be.' },
  not_deployed: { status: 409, means: 'no revision of the process is deployed.' },
  revision_changed: { status: 409, means: 'another revision is deployed than the one that the run was of.' },
  run_not_terminal: { status: 409, means: 'the run is not over; cancel it first.' },
  run_terminal: { status: 409, means: 'the run is over.' },
  address_taken: { status: 409, means: 'another channel has the address.' },
  already_applied: { status: 409, means: 'the delivery was applied, or is still tried by itself; there is nothing to repair.' },
  already_on_plan: { status: 409, means: 'the organization is on the plan already.' },
  change_in_flight: { status: 409, means: 'the same change of plan was asked for and is not paid yet.' },
  no_live_subscription: { status: 409, means: 'nobody pays a subscription of the organization; buy one by a checkout.' },
  not_sellable: { status: 409, means: 'the payment provider does not sell it.' },
  subscription_live: { status: 409, means: 'the organization has a subscription that is paid; change its plan.' },
  already_admin: { status: 409, means: 'the user is a platform administrator already.' },
  already_allowed: { status: 409, means: 'the address may sign up already.' },
  already_deployed: { status: 409, means: 'the revision is the one that is deployed.' },
  already_member: { status: 409, means: 'the user is a member already.' },
  already_synced: { status: 409, means: 'the base has this collection already.' },
  already_resolved: { status: 409, means: 'the request is not open any more; `context.status` says why.' },
  agent_deleted: { status: 409, means: 'the agent of the chat is deleted; the chat can only be read.' },
  agent_in_use: { status: 409, means: 'others name it; `context` has `agents`, `team_ids` and `project_ids`.' },
  code_taken: { status: 409, means: 'the code is taken.' },
  not_an_experiment: { status: 409, means: 'the rollout is a deployment.' },
  rollout_not_running: { status: 409, means: 'it does not run; `context` says which experiment of the agent does, if any.' },
  conflict: { status: 409, means: 'somebody else has changed the same thing at this moment; try again.' },
  email_taken: { status: 409, means: 'the address has an account.' },
  has_dependents: {
    status: 409,
    means:
      'others use it; `context` has `agent_ids`, `process_ids`, `sync_config_ids`, `team_ids` and `project_ids`. `acknowledge_dependents` goes on.',
  },
  idempotency_in_progress: { status: 409, means: 'the first request with this key is still being handled.' },
  invitation_pending: { status: 409, means: 'the address has an open invitation.' },
  last_admin: { status: 409, means: 'the platform would have no administrator who can act.' },
  last_owner: { status: 409, means: 'the organization would have no owner who can sign in.' },
  limit_reached: { status: 409, means: 'the organization has as many of it as one may have.' },
  model_conflict: { status: 409, means: 'another model has the key.' },
  model_in_use: { status: 409, means: 'something is set to use the model; `context.used_by` lists it.' },
  never_admitted: { status: 409, means: 'nobody was admitted by this entry.' },
  no_draft: { status: 409, means: 'there is no draft.' },
  not_held: { status: 409, means: 'the message is not held.' },
  payload_expired: { status: 409, means: 'what the message says is no longer kept.' },
  still_evaluating: { status: 409, means: 'the message is being evaluated.' },
  not_a_draft: { status: 409, means: 'the revision was deployed before, or a newer one was; only drafts are deployed.' },
  not_pending: { status: 409, means: 'the entry is not pending any more.' },
  not_previously_deployed: { status: 409, means: 'the revision was never deployed, so there is nothing to go back to.' },
  plan_in_use: { status: 409, means: 'organizations are subscribed to the plan; `context.subscribers` counts them.' },
  product_taken: { status: 409, means: 'another plan or pack has the product; `context` names it.' },
  revision_kept: { status: 409, means: 'the revision is deployed, or was; it stays.' },
  route_in_use: { status: 409, means: 'models are reached by the route.' },
  proof_running: { status: 409, means: 'another proof is being computed.' },
  route_lends_key: { status: 409, means: 'other routes spend its key; `context.routes` lists them.' },
  route_pinned: { status: 409, means: 'models, templates or settings are pinned to the route; `context` counts them.' },
  skill_in_use: { status: 409, means: 'others mount it; `context` has `agents`, `team_ids` and `project_ids`.' },
  sandbox_exists: { status: 409, means: 'the organization has its built-in sandbox already.' },
  slug_taken: { status: 409, means: 'the slug is taken.' },
  token_not_stored: { status: 409, means: 'no copy of the token was kept; a rotation issues another.' },
  not_subscribed: { status: 409, means: 'the organization has no subscription.' },
  version_conflict: { status: 409, means: 'somebody has changed it since it was read; `context.current_version` is the version now.' },
  // 410
  invitation_gone: { status: 410, means: 'the invitation was accepted or revoked, or is too old.' },
  // 412
  lease_moved: {
    status: 412,
    means: 'another one has the lease by now, or it was renewed; `context.last_heartbeat` is the one that holds.',
  },
  // 413
  payload_too_large: {
    status: 413,
    means: 'the body is larger than 1 MiB (where the operation says nothing else), or the file in it larger than 50 MiB.',
  },
  // 415
  unsupported_media_type: { status: 415, means: 'the body is of no media type that this takes.' },
  // 416
  range_not_satisfiable: { status: 416, means: 'the file has no such bytes.' },
  // 422
  validation_error: { status: 422, means: 'the request is not valid; every problem is listed.' },
  address_refused: { status: 422, means: 'the address is none that may be reached from here.' },
  authorization_failed: { status: 422, means: 'the server of the connection cannot be asked for a consent; `detail` says why.' },
  allowlist_needs_default: { status: 422, means: 'an allowlist does not hold its default model.' },
  base_url_needs_own_key: { status: 422, means: 'another address needs a key of the organization’s own.' },
  borrowing_chain: { status: 422, means: 'a route that spends the key of another lends none, and none borrows from itself.' },
  cannot_unarchive: { status: 422, means: 'an archived chat stays archived; only continuing it can open it again.' },
  follows_root: { status: 422, means: 'the chat was begun by another one and is seen by whoever sees that one.' },
  cycle: { status: 422, means: 'it would stand below itself.' },
  exactly_one_required: { status: 422, means: 'of two fields exactly one must be given.' },
  gateway_incomplete: { status: 422, means: 'an own AI gateway needs its account, its gateway and its token.' },
  idempotency_mismatch: { status: 422, means: 'the key came with another request before.' },
  instruction_too_long: { status: 422, means: 'the instruction would be longer than one may be.' },
  input_missing: { status: 422, means: 'there is nothing to extract from.' },
  input_url_failed: { status: 422, means: 'what stands at the address could not be fetched.' },
  kind_not_served: { status: 422, means: 'the dialect of the route cannot serve a model of this kind.' },
  masked_secret: { status: 422, means: 'this is the masked form of a secret, and not the secret.' },
  missing_variables: { status: 422, means: 'the template asks for variables that are not given.' },
  model_not_callable: { status: 422, means: 'no model can be called: its route is off, or has no key.' },
  model_not_priced: { status: 422, means: 'the model has no price, and the organization pays in credits.' },
  model_not_allowed: { status: 422, means: 'the organization does not allow the model here.' },
  model_unknown: { status: 422, means: 'there is no such model.' },
  arm_unusable: { status: 422, means: 'an arm names what is not there any more; `context.problems` has every arm, kind and slug.' },
  identical_arms: { status: 422, means: 'arms are the same revision, word for word; `context.labels` names them.' },
  unknown_arm: { status: 422, means: 'the experiment has no arm of this label; `context.labels` has those that it has.' },
  unknown_revision: { status: 422, means: 'the agent has no such revision.' },
  not_continuable: { status: 422, means: 'the chat has not failed, and is not closed for a reason that can pass.' },
  nothing_to_check: { status: 422, means: 'there is nothing that could be played again.' },
  nothing_to_retry: { status: 422, means: 'no user has written in the chat before its first answer.' },
  number_unsafe: { status: 422, means: 'a double cannot keep a number of the body; send it as a string.' },
  organization_owned: { status: 422, means: 'it belongs to an organization, which alone changes it.' },
  nothing_to_reveal: { status: 422, means: 'only a remote machine has a token.' },
  not_knowledge_capable: { status: 422, means: 'the connection has nothing that knowledge could be made of.' },
  not_disputed: { status: 422, means: 'the decision is not disputed.' },
  password_incorrect: { status: 422, means: 'this is not the password.' },
  not_a_member: { status: 422, means: 'the user is no active member of the organization.' },
  not_a_webhook: { status: 422, means: 'the channel is one of mail.' },
  plan_mismatch: { status: 422, means: 'the plan chooses models another way.' },
  prompt_too_long: { status: 422, means: 'with its variables and files the prompt is longer than one may be.' },
  rate_card_date: { status: 422, means: 'no version of the rate card can begin on this day.' },
  rate_card_not_next: { status: 422, means: 'the version is not the next one; `context.expected_version` is.' },
  replacement_cycle: { status: 422, means: 'the chain of replacements leads back to the model, or is too long.' },
  reconnect_required: { status: 422, means: 'the server does not let the connection in; reconnect it.' },
  repoint_target: { status: 422, means: 'the target is the route itself, disabled, or an organization’s.' },
  provider_refused: { status: 422, means: 'the payment provider refuses; `context.reason` says why.' },
  reset_token_invalid: { status: 422, means: 'the link is unknown, used or too old.' },
  revision_invalid: { status: 422, means: 'the revision cannot be run; `errors` says why, by its stages or steps.' },
  route_borrows_key: { status: 422, means: 'the route spends the key of another route; set it there.' },
  self_action: { status: 422, means: 'nobody does this to themself.' },
  should_have_missing: { status: 422, means: 'the dispute does not say what the decision should have been.' },
  template_empty: { status: 422, means: 'the template has neither a text nor fields.' },
  unknown_app: { status: 422, means: 'there is no such app in the catalog.' },
  unknown_method: { status: 422, means: 'the app cannot be connected in this way.' },
  unknown_reference: { status: 422, means: 'something is named that does not exist.' },
  unsupported_media: { status: 422, means: 'the model cannot be given a file of this kind, or not in the way that was asked for.' },
  verification_invalid: { status: 422, means: 'the link is unknown, used or too old.' },
  // 429
  queue_full: {
    status: 429,
    means: 'too many turns, or replays, of the organization wait already, or too many messages in a chat that is closed.',
  },
  rate_limited: { status: 429, means: 'too many requests.' },
  too_many_attempts: { status: 429, means: 'too many attempts to log in have failed.' },
  // 5xx
  internal_error: { status: 500, means: 'a fault of ours.' },
  upstream_unavailable: { status: 502, means: 'the service behind cannot be reached.' },
  dispatch_failed: { status: 503, means: 'it is stored, as `context` says, but nothing runs.' },
  effect_missing: { status: 503, means: 'this build does not have what would apply the delivery; `context.symbol` names it.' },
  service_unavailable: { status: 503, means: 'the database or another part cannot answer right now.' },
  upstream_timeout: { status: 504, means: 'the service behind did not answer in time.' },
} as const satisfies Record<string, { status: number; means: string }>;

export type ErrorCode = keyof typeof ERRORS;

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
  /** Only for 422: further keys of the body, beside `detail` and `code`. */
  beside?: Record<string, unknown>;
  /** Only for 429 and 503: seconds after which a retry makes sense. */
  retryAfterS?: number;
  /** Only for 503: one user, organization or address has as much at once as it may, and others find room. It is counted apart, since nobody is to be called for it. */
  ofOne?: boolean;
  cause?: unknown;
}

/**
 * A refusal that the caller is meant to see.
 *
 * @param code decides the HTTP status through {@link ERRORS}
 * @param detail one sentence, in the words of the caller's world
 */
export class DomainError extends Error {
  readonly status: number;
  readonly context?: Record<string, unknown>;
  readonly problems?: Problem[];
  readonly beside?: Record<string, unknown>;
  readonly retryAfterS?: number;
  readonly ofOne: boolean;

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    options: DomainErrorOptions = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.status = ERRORS[code].status;
    this.context = options.context;
    this.problems = options.problems;
    this.beside = options.beside;
    this.retryAfterS = options.retryAfterS;
    this.ofOne = options.ofOne ?? false;
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

/** A 422 about values. @param problems at least one */
export function invalid(...problems: Problem[]): DomainError {
  return new DomainError('validation_error', problems.length === 1 ? problems[0].msg : 'The request is not valid.', { problems });
}

/** A 422 about one value that its type cannot tell of. @param loc where it stands, e.g. `['body', 'target_id']` */
export const refuseValue = (loc: Problem['loc'], msg: string): DomainError => invalid({ loc, msg, type: 'value_error' });

/** @throws DomainError `validation_error` where there are problems */
export function requireValid(problems: Problem[]): void {
  if (problems.length) throw invalid(...problems);
}
