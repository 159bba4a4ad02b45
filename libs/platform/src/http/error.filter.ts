import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { DomainError, ERRORS, type ErrorCode, type Problem } from '@aps/contracts';
import { isConnectionLoss } from '@aps/platform/database';
import type { Request, Response } from 'express';
import { routeOf, type RequestContext } from './request-context';

/** Body of every 422; some codes have keys of their own beside these. */
interface ValidationBody {
  detail: Problem[];
  code: ErrorCode;
  request_id: string;
  context?: Record<string, unknown>;
}

/** Body of every other error. */
interface ErrorBody {
  detail: string;
  code: ErrorCode;
  request_id: string;
  context?: Record<string, unknown>;
}

/** What PostgreSQL says when input, not code, is at fault: the request gets a 4xx, never a 500. */
function fromDatabase(error: unknown): DomainError | undefined {
  const source = ((error as { driverError?: unknown }).driverError ?? error) as { code?: string };
  switch (source.code) {
    case '22021': // character not in repertoire
    case '22P05': // untranslatable character
    case '22P02': // invalid text representation
    case '22001': // string too long
    case '22003': // number out of range
    case '22008': // datetime out of range
      return new DomainError('validation_error', 'A value of the request cannot be stored.', {
        problems: [{ loc: ['body'], msg: 'A value cannot be stored', type: 'value_error' }],
        cause: error,
      });
    case '23505':
      return new DomainError('conflict', 'Something with these values exists already.', { cause: error });
    case '23503':
      return new DomainError('conflict', 'Something that this refers to has just changed. Try again.', { cause: error });
    case '40001':
    case '40P01':
    case '55P03': // lock not available
      // Nothing is wrong with the request: senders of webhooks give up what a 4xx refuses.
      return new DomainError('service_unavailable', 'Others are changing the same thing. Try again.', { cause: error, retryAfterS: 1 });
    case '57014': // statement timeout
    case '25P03': // idle in transaction for too long
    case '53100': // disk full
    case '53200': // out of memory
    case '53300': // too many connections
      return new DomainError('service_unavailable', 'The database cannot answer right now. Try again.', { cause: error, retryAfterS: 2 });
    default:
      if (isConnectionLoss(error))
        return new DomainError('service_unavailable', 'The database cannot answer right now. Try again.', { cause: error, retryAfterS: 2 });
      return undefined;
  }
}

const BY_STATUS: Record<number, ErrorCode> = {
  400: 'bad_request',
  401: 'not_authenticated',
  403: 'insufficient_role',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'service_unavailable',
};

/** Turns whatever was thrown into the error that the caller gets. `unexpected` ones are a fault of ours and belong in the log. */
export function toDomainError(error: unknown): { error: DomainError; unexpected: boolean } {
  if (error instanceof DomainError) return { error, unexpected: false };
  const database = fromDatabase(error);
  if (database) return { error: database, unexpected: database.code === 'service_unavailable' };
  const status = error instanceof HttpException ? error.getStatus() : ((error as { status?: number })?.status ?? 500);
  const code = BY_STATUS[status];
  if (code && status < 500) {
    const detail =
      status === 404 ? 'There is nothing at this address.' : error instanceof HttpException ? error.message : 'The request cannot be read.';
    return { error: new DomainError(code, detail), unexpected: false };
  }
  return { error: new DomainError('internal_error', 'Something went wrong on our side.', { cause: error }), unexpected: true };
}

/** The documented body of an error. */
export function errorBody(error: DomainError, requestId: string): ErrorBody | ValidationBody {
  const rest = { code: error.code, request_id: requestId, ...(error.context && { context: error.context }) };
  if (ERRORS[error.code].status !== 422) return { detail: error.detail, ...rest };
  const problems = error.problems ?? [{ loc: ['body'], msg: error.detail, type: `semantic.${error.code}` }];
  return { detail: problems, ...rest, ...error.beside };
}

/** Writes an error to a response; used by the filter and by what answers outside of Nest (proxy, not found). */
export function sendError(error: unknown, request: Request & Partial<RequestContext>, response: Response, logger?: Logger): void {
  // Cut because the client has gone: nobody is there to be told, and nothing is wrong.
  if ((response.destroyed || request.destroyed) && (error as Error | null)?.name === 'AbortError') return;
  const { error: known, unexpected } = toDomainError(error);
  const requestId = request.requestId ?? '';
  // Who is cut off is told nothing, whatever it was.
  if (unexpected || response.headersSent) {
    const cause = (known.cause ?? error) as Error;
    logger?.error({
      msg: 'Request failed',
      request_id: requestId,
      method: request.method,
      route: routeOf(request),
      error: cause?.stack ?? String(cause),
    });
  }
  if (response.headersSent) {
    // Too late for a status: cut the connection, so that the client cannot take half an answer for a whole one.
    response.destroy();
    return;
  }
  if (known.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (known.retryAfterS !== undefined) response.setHeader('Retry-After', String(known.retryAfterS));
  request.refusedOfOne = known.ofOne;
  response.status(known.status).json(errorBody(known, requestId));
}

/** Answers every error that a handler, guard or interceptor throws. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  catch(error: unknown, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const http = host.switchToHttp();
    sendError(error, http.getRequest(), http.getResponse(), this.logger);
  }
}
