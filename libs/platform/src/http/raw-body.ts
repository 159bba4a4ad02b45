import { DomainError } from '@aps/contracts';
import type { Request } from 'express';

export const tooLarge = (limit: number): DomainError => new DomainError('payload_too_large', `The body is larger than ${limit} bytes.`);

/** What has come of a body. */
export interface BegunBody {
  bytes: Buffer;
  /** There is no more of it. */
  isWhole: boolean;
}

/**
 * The bytes of a body as they came, up to a limit, or as many as there is room for. The request stands still behind them where there are more,
 * and from the first byte on where it has said so.
 *
 * @param hold told the bytes of each part before it is kept, but of the one that goes beyond the limit. Where it says false, that part is the last
 *   one; what it throws refuses the body
 * @throws AbortError where the client has gone
 */
export function bodyUpTo(request: Request, limit: number, hold: (bytes: number) => boolean): Promise<BegunBody> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] | undefined = [];
    // Nothing is kept of what is refused, however long the rest of it takes.
    const refuse = (error: Error) => {
      chunks = undefined;
      reject(error);
    };
    // Nobody is there any more to be answered.
    const cut = () => refuse(Object.assign(new Error('The body was cut'), { name: 'AbortError' }));
    const end = (isWhole: boolean) => {
      // What comes afterwards cuts nothing off any more.
      request.off('close', cut);
      if (chunks) resolve({ bytes: Buffer.concat(chunks), isWhole });
      chunks = undefined;
    };
    if (request.destroyed) return cut();
    // Said as soon as it is known.
    if (Number(request.headers['content-length'] ?? 0) > limit) return end(false);
    let size = 0;
    const read = (chunk: Buffer) => {
      if (!chunks) return;
      size += chunk.length;
      try {
        const goesOn = size <= limit && hold(chunk.length);
        chunks.push(chunk);
        if (goesOn) return;
      } catch (error) {
        return refuse(error as Error);
      }
      request.off('data', read).pause();
      end(false);
    };
    request.on('data', read);
    request.once('end', () => end(true));
    request.once('close', cut);
    request.once('error', cut);
  });
}

/**
 * The bytes of a body as they came.
 *
 * @param hold told the bytes of each part before it is kept; what it throws refuses the body
 * @throws DomainError 413 as soon as there are too many; AbortError where the client has gone
 */
export async function rawBody(request: Request, limit: number, hold: (bytes: number) => void = () => undefined): Promise<Buffer> {
  const { bytes, isWhole } = await bodyUpTo(request, limit, (more) => {
    hold(more);
    return true;
  });
  if (isWhole) return bytes;
  request.resume();
  throw tooLarge(limit);
}
