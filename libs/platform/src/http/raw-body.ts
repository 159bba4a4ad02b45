import { DomainError } from '@aps/contracts';
import type { Request } from 'express';

/** The bytes of a body as they came. @throws DomainError 413 as soon as there are too many */
export function rawBody(request: Request, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => reject(new DomainError('payload_too_large', `The body is larger than ${limit} bytes.`));
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else tooLarge();
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    // Nobody is there any more to be answered.
    request.once('close', () => reject(Object.assign(new Error('The body was cut'), { name: 'AbortError' })));
    request.once('error', reject);
  });
}
