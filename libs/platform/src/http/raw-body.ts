import { DomainError } from '@aps/contracts';
import type { Request } from 'express';

export const tooLarge = (limit: number): DomainError => new DomainError('payload_too_large', `The body is larger than ${limit} bytes.`);

/**
 * The bytes of a body as they came.
 *
 * @param hold told the bytes of each part before it is kept; what it throws refuses the body
 * @throws DomainError 413 as soon as there are too many; AbortError where the client has gone
 */
export function rawBody(request: Request, limit: number, hold: (bytes: number) => void = () => undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] | undefined = [];
    // Nothing is kept of what is refused, however long the rest of it takes.
    const refuse = (error: Error) => {
      chunks = undefined;
      reject(error);
    };
    // Nobody is there any more to be answered.
    const cut = () => refuse(Object.assign(new Error('The body was cut'), { name: 'AbortError' }));
    if (request.destroyed) return cut();
    // Said as soon as it is known.
    if (Number(request.headers['content-length'] ?? 0) > limit) return refuse(tooLarge(limit));
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      if (!chunks) return;
      size += chunk.length;
      if (size > limit) return refuse(tooLarge(limit));
      try {
        hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        refuse(error as Error);
      }
    });
    request.once('end', () => chunks && resolve(Buffer.concat(chunks)));
    request.once('close', cut);
    request.once('error', cut);
  });
}
