import { DomainError } from '@aps/contracts';
import { ProviderError, type ProviderErrorCode } from './client';

/** Why a model could not be chosen or called; a chat shows it as `error.code`. */
export type InferenceErrorCode = ProviderErrorCode | 'route_disabled' | 'model_unavailable' | 'budget_exceeded' | 'credits_exhausted';

export interface InferenceErrorDetails {
  /** Whether the same call may succeed later without anybody changing anything. */
  retryable?: boolean;
  /** HTTP status that the provider answered. */
  status?: number;
  /** HTTP requests that were sent. */
  attempts?: number;
  /** What a call may cost that there were too few credits for. */
  credits?: string;
  /** Whether it is as {@link InferenceError.isOfOrganization} says, where the code alone does not. */
  isOfOrganization?: boolean;
}

/** What each organization sets, or asks for, itself. */
const OF_ORGANIZATION: Partial<Record<InferenceErrorCode, true>> = {
  budget_exceeded: true,
  credits_exhausted: true,
  context_overflow: true,
};
/** What a provider says about who asks, and what for: whose key that is tells whose matter. */
const ABOUT_KEYS: readonly ProviderErrorCode[] = ['provider_auth', 'provider_rate_limited', 'provider_rejected'];

const OF_ROUTES: ReadonlySet<string> = new Set<InferenceErrorCode>(['route_disabled', 'model_unavailable', 'provider_auth']);
/** Whether a model cannot be called at all, for its route, its key or itself: no message and no repeat will help. @param code of any error */
export const isRouteError = (code: string): boolean => OF_ROUTES.has(code);

/** The one error of choosing and calling models. Its message is fit for a user: it holds neither keys nor addresses. */
export class InferenceError extends Error {
  override readonly name = 'InferenceError';
  readonly retryable: boolean;
  readonly status?: number;
  readonly attempts: number;
  readonly credits?: string;
  /** Only its organization can help, and no operator: by its key, its address, its budget or what it asks. */
  readonly isOfOrganization: boolean;

  constructor(
    readonly code: InferenceErrorCode,
    message: string,
    details: InferenceErrorDetails = {},
  ) {
    super(message);
    this.retryable = details.retryable ?? false;
    this.status = details.status;
    this.attempts = details.attempts ?? 0;
    this.credits = details.credits;
    this.isOfOrganization = details.isOfOrganization ?? OF_ORGANIZATION[code] ?? false;
  }

  /**
   * Anything but a provider's failure (the caller's abort, a fault of ours) is passed on as it is.
   *
   * @param called whose key and whose address they were
   */
  static from(error: unknown, called: { byo_key: boolean; endpoint: { tenantAddress: boolean } }): unknown {
    if (!(error instanceof ProviderError)) return error;
    const { code, message, retryable, status, attempts } = error;
    const isTheirs = called.endpoint.tenantAddress || (called.byo_key && ABOUT_KEYS.includes(code));
    return new InferenceError(code, message, { retryable, status, attempts, ...(isTheirs && { isOfOrganization: true }) });
  }
}

/** Tells whoever asks for something what keeps its model from being called. @throws DomainError 422 `model_not_callable` */
export const requireCallable = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw error instanceof InferenceError ? new DomainError('model_not_callable', error.message) : error;
  });
