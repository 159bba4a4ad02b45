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
}

/** The one error of choosing and calling models. Its message is fit for a user: it holds neither keys nor addresses. */
export class InferenceError extends Error {
  override readonly name = 'InferenceError';
  readonly retryable: boolean;
  readonly status?: number;
  readonly attempts: number;
  readonly credits?: string;

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
  }

  /** Anything but a provider's failure (the caller's abort, a fault of ours) is passed on as it is. */
  static from(error: unknown): unknown {
    if (!(error instanceof ProviderError)) return error;
    return new InferenceError(error.code, error.message, { retryable: error.retryable, status: error.status, attempts: error.attempts });
  }
}
