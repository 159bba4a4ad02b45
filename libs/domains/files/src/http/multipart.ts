import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import busboy from 'busboy';
import type { IncomingFile } from '../files.service';
import { invalid } from '@aps/contracts';
import { hasBody, holdToPace, unsupportedMediaType } from '@aps/platform/http';
import type { Request } from 'express';
import { fileProblem, fileTooLarge, MAX_FILE_BYTES } from '../file-probe';

/** What may come around the file: boundaries, headers, fields that nobody asked for. */
const MAX_AROUND = 1024 * 1024;
/** Who stands before us must let as much through. */
export const MAX_FORM_BYTES = MAX_FILE_BYTES + MAX_AROUND;
const LIMITS = { files: 10, fields: 20, parts: 30, fieldSize: 10_000, headerPairs: 100 };

/** A 422 about the form as a whole. */
const formProblem = (msg: string, type: string) => invalid({ loc: ['body'], msg, type });
const malformed = () => formProblem('The body is not valid multipart/form-data', 'value_error');

/** Documents the body that {@link receiveFile} reads. */
export const TakesFile = () =>
  applyDecorators(
    ApiConsumes('multipart/form-data'),
    ApiBody({
      required: true,
      schema: {
        type: 'object',
        required: ['file'],
        properties: { file: { type: 'string', format: 'binary', description: 'The file, with its name.' } },
      },
    }),
  );

/**
 * The field `file` of a multipart form, as soon as it begins. Other fields are passed over.
 *
 * Whatever goes wrong, the rest of the request is read and dropped, so that its sender gets to read the answer. One who sends it too slowly
 * is cut off.
 *
 * @throws DomainError 413; 415; 422 where there is no such field, or no form
 */
export function receiveFile(request: Request): Promise<IncomingFile> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FORM_BYTES) return Promise.reject(fileTooLarge());
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) {
    return Promise.reject(hasBody(request) ? unsupportedMediaType('multipart/form-data') : fileProblem('Field required', 'missing'));
  }
  // Its sender left while the guards were asked: no event would ever tell.
  if (request.destroyed) return Promise.reject(malformed());
  let parser: busboy.Busboy;
  try {
    parser = busboy({ headers: request.headers, defParamCharset: 'utf8', limits: LIMITS });
  } catch {
    return Promise.reject(malformed());
  }
  return new Promise((resolve, reject) => {
    let settled = false;
    let file: IncomingFile | undefined;
    let completed: () => void;
    let failed: (error: Error) => void;
    const complete = new Promise<void>((done, fail) => ([completed, failed] = [done, fail]));
    // Whoever takes the file waits for it; before that it is this promise that is rejected.
    complete.catch(() => undefined);

    const fail = (error: Error): void => {
      if (settled) return;
      settled = true;
      failed(error);
      reject(error);
      request.unpipe(parser);
      parser.destroy();
      request.resume();
    };
    // A browser calls a file that nobody chose "", of which the parser makes no name at all.
    parser.on('file', (name, bytes, { filename }: { filename?: string }) => {
      // A form that breaks off breaks its file, too, whether or not somebody reads it.
      bytes.on('error', () => undefined);
      if (name !== 'file') return void bytes.resume();
      if (file) {
        bytes.resume();
        return fail(fileProblem('One file at a time', 'too_long'));
      }
      if (filename === undefined) {
        bytes.resume();
        return fail(fileProblem('A file with a name is required', 'missing'));
      }
      // A taker that gives up: what still comes is of no use.
      bytes.once('close', () => {
        if (!bytes.readableEnded) fail(malformed());
      });
      resolve((file = { filename, bytes, complete }));
    });
    parser.on('field', (name) => {
      if (name === 'file') fail(fileProblem('Input should be a file', 'value_error'));
    });
    // Behind its limit the parser passes over everything, the file too.
    for (const limit of ['filesLimit', 'partsLimit'] as const)
      parser.on(limit, () => fail(formProblem('The form has too many parts', 'too_long')));
    parser.on('error', () => fail(malformed()));
    parser.on('close', () => {
      if (!file) return fail(fileProblem('Field required', 'missing'));
      settled = true;
      completed();
    });
    let received = 0;
    // The pipe pauses the request while the storage takes nothing.
    const pace = holdToPace(
      () => request.destroy(),
      () => request.isPaused(),
    );
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      pace.moved(chunk.length);
      if (received > MAX_FORM_BYTES) fail(fileTooLarge());
    });
    request.once('close', () => {
      pace.end();
      if (!request.complete) fail(malformed());
    });
    request.pipe(parser);
  });
}
