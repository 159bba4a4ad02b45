import { pipeline } from 'node:stream/promises';
import { DomainError, notFound } from '@aps/contracts';
import { holdToPace } from '@aps/platform/http';
import { FilesQueries } from '../files.queries';
import type { FileRow } from '../files.repository';
import { isText } from '../media-type';
import type { ByteRange } from '@aps/platform/storage';
import type { Request, Response } from 'express';

/** What a browser may show by itself. Neither HTML nor SVG nor PDF: they run. */
const INLINE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain']);

/**
 * Streams a file, or the part of it that is asked for. Whatever it is, a browser neither guesses at its type nor runs anything in it.
 *
 * @throws DomainError 404 where its bytes are lost; 416
 */
export async function answerFile(request: Request, response: Response, file: FileRow, queries: FilesQueries): Promise<void> {
  response.setHeader('Content-Type', isText(file.media_type) ? `${file.media_type}; charset=utf-8` : file.media_type);
  response.setHeader(
    'Content-Disposition',
    `${INLINE.has(file.media_type) ? 'inline' : 'attachment'}; ${filenameParameters(file.filename)}`,
  );
  response.setHeader('Content-Security-Policy', `default-src 'none'; sandbox`);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('ETag', `"${file.sha256}"`);
  // Bytes never change, but who may see them does: asked again each time, answered 304.
  response.setHeader('Cache-Control', 'private, no-cache');
  if (hasAlready(request, `"${file.sha256}"`)) {
    response.status(304).end();
    return;
  }
  // A range is of GET alone (RFC 9110, 14.2).
  if (request.method === 'HEAD') {
    response.setHeader('Content-Length', String(file.size_bytes));
    response.end();
    return;
  }
  const range = rangeOf(request, response, file);
  const length = range?.length ?? file.size_bytes;
  if (range) response.status(206).setHeader('Content-Range', `bytes ${range.start}-${range.start + range.length - 1}/${file.size_bytes}`);
  const bytes = await queries.open(file, range);
  if (!bytes) throw withoutHeaders(response, notFound('File'));
  response.setHeader('Content-Length', String(length));
  // A reader that leaves, or a storage that breaks off: the connection is cut, so that half a file is not taken for a whole one.
  await pipeline(bytes.stream, keepingPace(response), response).catch(() => response.destroy());
}

/** Lets the bytes through for as long as their reader takes enough of them. */
const keepingPace = (response: Response) =>
  async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const pace = holdToPace(() => response.destroy());
    try {
      for await (const chunk of bytes) {
        pace.moved(chunk.length);
        yield chunk;
      }
    } finally {
      pace.end();
    }
  };

/** Not `request.fresh`: it heeds `Cache-Control`, by which a client speaks to the caches in between. */
function hasAlready(request: Request, etag: string): boolean {
  const given = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return given !== undefined && (given.includes(etag) || given.includes('*'));
}

/** One range, as RFC 9110 has it; a request for several gets the whole. */
function rangeOf(request: Request, response: Response, file: FileRow): ByteRange | undefined {
  const unchanged = request.headers['if-range'];
  if (unchanged !== undefined && unchanged !== `"${file.sha256}"`) return undefined;
  const ranges = request.range(file.size_bytes);
  if (ranges === -1) {
    const refusal = withoutHeaders(response, new DomainError('range_not_satisfiable', 'The file has no such bytes.'));
    response.setHeader('Content-Range', `bytes */${file.size_bytes}`);
    throw refusal;
  }
  if (ranges === undefined || ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return { start: ranges[0].start, length: ranges[0].end - ranges[0].start + 1 };
}

/** What was said about the file is not so of the error. */
function withoutHeaders(response: Response, error: DomainError): DomainError {
  for (const name of ['Content-Type', 'Content-Disposition', 'Content-Range', 'ETag', 'Cache-Control']) response.removeHeader(name);
  return error;
}

/** RFC 6266: plain text for old readers, UTF-8 for the others. */
function filenameParameters(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `filename="${plain}"${plain === filename ? '' : `; filename*=UTF-8''${encoded}`}`;
}
