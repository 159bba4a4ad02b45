import {
  applyDecorators,
  CallHandler,
  createParamDecorator,
  ExecutionContext,
  Injectable,
  Logger,
  SetMetadata,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { errorBody, toDomainError, withoutCredentials, type SelectiveInterceptor } from '@aps/platform/http';
import type { Request, Response } from 'express';
import { catchError, from, mergeMap, type Observable, of, throwError } from 'rxjs';
import { idempotencyKeyOf, requestHash, type OwnedRequest } from './request';
import { IdempotencyStore, type Attempt, type StoredAnswer } from './store';

/** What a caller may do, can pay, and how often, changes; what they have asked for does not. */
const ABOUT_THE_CALLER = new Set([401, 402, 403, 429]);

/** Characters of an answer that is kept where a repeat can do without, and read again what it tells of. */
const MAX_KEPT = 256 * 1024;

/** Metadata of handlers whose repeats are answered as the first time. */
export const IDEMPOTENT = 'aps:idempotent';

/**
 * For POSTs that create or dispatch: a repeat with the same `Idempotency-Key` gets the first answer again, with
 * `Idempotency-Replayed: true`, and nothing is done twice. A credential in it is shown once, and null from then on. Errors are answers too,
 * unless another try may end differently: 401, 402, 403, 429, 5xx, `conflict` and those with a `Retry-After`.
 *
 * An answer is kept after what was done. Where the process dies between the two, a repeat does it again, unless the handler goes on with
 * what its {@link IdempotencyAttempt} has made: whatever nobody could see and undo must. So must who answers with a stream, which is not kept;
 * nor is a very long answer of one that does.
 */
export const Idempotent = () =>
  applyDecorators(
    SetMetadata(IDEMPOTENT, true),
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'Makes a repeat safe: the same key and body get the first answer again, for 24 hours.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
  );

/** The try that a request with an `Idempotency-Key` is; undefined without the header. */
export const IdempotencyAttempt = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<OwnedRequest>().idempotencyAttempt,
);

@Injectable()
export class IdempotencyInterceptor implements SelectiveInterceptor {
  private readonly logger = new Logger('Idempotency');

  constructor(private readonly store: IdempotencyStore) {}

  concerns(request: Request): boolean {
    return request.headers['idempotency-key'] !== undefined;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<OwnedRequest>();
    const key = idempotencyKeyOf(request);
    const owner = request.principal?.credentialId;
    // Keys belong to a token; who has none (sign-up, log-in) has no place to keep an answer that nobody else may see.
    if (key === undefined || !owner) return next.handle();
    return this.handle(owner, key, context.getHandler(), request, http.getResponse<Response>(), next);
  }

  private async handle(
    owner: string,
    key: string,
    handler: object,
    request: OwnedRequest,
    response: Response,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const begun = await this.store.begin(owner, key, requestHash(request));
    if (begun.state === 'answered') {
      response.status(begun.answer.status).setHeader('Idempotency-Replayed', 'true');
      return of(begun.answer.body === null ? undefined : (JSON.parse(begun.answer.body) as unknown));
    }
    const { attempt } = begun;
    // For handlers that go on where a failed try of the same request stopped.
    request.idempotencyAttempt = attempt;
    return next.handle().pipe(
      mergeMap((body: unknown) => from(this.keepBody(attempt, response.statusCode, handler, body).then(() => body))),
      catchError((error: unknown) =>
        from(this.keepError(attempt, error, request.requestId ?? '')).pipe(mergeMap(() => throwError(() => error))),
      ),
    );
  }

  private async keepBody(attempt: Attempt, status: number, handler: object, answer: unknown): Promise<void> {
    if (answer instanceof StreamableFile) return this.letGo(attempt);
    const body = answer === undefined ? null : JSON.stringify(withoutCredentials(handler, answer));
    if ((attempt.attached || attempt.resourceId) && body && body.length > MAX_KEPT) return this.letGo(attempt);
    await this.keep(attempt, { status, body });
  }

  private async keepError(attempt: Attempt, error: unknown, requestId: string): Promise<void> {
    const { error: known } = toDomainError(error);
    const mayEndDifferently = known.status >= 500 || known.retryAfterS !== undefined || known.code === 'conflict';
    if (!mayEndDifferently && !ABOUT_THE_CALLER.has(known.status)) {
      await this.keep(attempt, { status: known.status, body: JSON.stringify(errorBody(known, requestId)) });
    } else {
      await this.letGo(attempt);
    }
  }

  private letGo(attempt: Attempt): Promise<void> {
    return this.unlessFailing('let go of', this.store.abandon(attempt));
  }

  private async keep(attempt: Attempt, answer: StoredAnswer): Promise<void> {
    await this.unlessFailing('keep the answer of', this.store.complete(attempt, answer));
  }

  /** What was done is done: the caller gets its answer even when that cannot be kept for a repeat. */
  private async unlessFailing(what: string, work: Promise<unknown>): Promise<void> {
    await work.catch((error: Error) => this.logger.warn(`Could not ${what} a request: ${error.message}`));
  }
}
