import type { Problem } from '@aps/contracts';
import { DomainError } from '@aps/contracts';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { json } from 'express';

/** A JSON body, C.1: 1 MiB. */
export const JSON_BODY_LIMIT = 1024 * 1024;

/** How deep lists and objects of a body may nest. Everything that walks a body recurses, and the stack ends long before 1 MiB of `[` does. */
const MAX_DEPTH = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** Looks at the text, before anything is built from it. */
function nestsTooDeep(raw: Buffer): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i];
    if (inText) {
      if (c === BACKSLASH) i++;
      else if (c === QUOTE) inText = false;
    } else if (c === QUOTE) inText = true;
    else if (c === OPEN_LIST || c === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return true;
    } else if (c === CLOSE_LIST || c === CLOSE_OBJECT) depth--;
  }
  return false;
}

/**
 * Parses JSON bodies. A body that is no JSON is not answered here but noted on the request, so that the checks that come first
 * (authentication, membership, role) are also answered first.
 */
export function jsonBody(limit: number = JSON_BODY_LIMIT): RequestHandler {
  const parse = json({
    limit,
    strict: false,
    type: (req) => /^application\/([\w.+-]+\+)?json\b/i.test(req.headers['content-type'] ?? ''),
    verify: (_req, _res, raw) => {
      utf8.decode(raw);
      if (nestsTooDeep(raw)) throw Object.assign(new Error('The body is nested too deeply'), { type: 'json.too.deep', status: 422 });
    },
  });
  return (req: Request & { bodyProblem?: Problem }, res: Response, next: NextFunction) => {
    if (req.method === 'GET' || req.method === 'HEAD') return next();
    parse(req, res, (error?: unknown) => {
      if (!error) return next();
      const { type, status, message } = error as { type?: string; status?: number; message?: string };
      if (type === 'entity.too.large') return next(new DomainError('payload_too_large', `The body is larger than ${limit} bytes.`));
      if (type === 'json.too.deep') {
        req.bodyProblem = { loc: ['body'], msg: `The body may nest ${MAX_DEPTH} levels deep`, type: 'json_invalid' };
        return next();
      }
      if (type === 'entity.parse.failed' || type === 'entity.verify.failed' || status === 415 || status === 400) {
        const at = /position (\d+)/.exec(message ?? '');
        const loc = at ? ['body', Number(at[1])] : ['body'];
        req.bodyProblem = { loc, msg: 'The body is not valid JSON in UTF-8', type: 'json_invalid' };
        return next();
      }
      next(error);
    });
  };
}
