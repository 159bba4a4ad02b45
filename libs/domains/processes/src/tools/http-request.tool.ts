import { Injectable } from '@nestjs/common';
import { Egress, EgressError } from '@aps/platform/egress';
import { readJson } from '@aps/platform/http';
import { NotSent } from '@aps/tools';
import { MAX_SIZE } from '../definition/meter';
import { StepTools, type StepToolContext, type StepToolResult } from './step-tools';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface HttpRequest {
  method: (typeof METHODS)[number];
  url: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: string;
}

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    method: { type: 'string', enum: [...METHODS] },
    url: { type: 'string', minLength: 1, maxLength: 4_000 },
    headers: { type: 'object', additionalProperties: { type: 'string', maxLength: 8_000 }, maxProperties: 50 },
    json: {},
    body: { type: 'string' },
  },
  required: ['method', 'url'],
  additionalProperties: false,
  not: { required: ['json', 'body'] },
};

/** Methods that do nothing more when they are made again. */
const REPEATABLE = new Set<string>(['GET', 'HEAD', 'PUT']);
/** The address was refused, or nobody was there: nothing has been said. */
const NEVER_SENT = new Set<string>(['url', 'scheme', 'userinfo', 'port', 'dns', 'address', 'connect']);

/** A tool of steps alone: one guarded request to an address that the definition names. */
@Injectable()
export class HttpRequestTool {
  constructor(
    private readonly egress: Egress,
    tools: StepTools,
  ) {
    tools.register({
      slug: 'core.http_request',
      accessLevel: 'write',
      idempotent: false,
      isRepeatable: (args) => REPEATABLE.has(String(args.method)),
      inputSchema: INPUT_SCHEMA,
      connectionId: null,
      call: (args, context) => this.call(args as unknown as HttpRequest, context),
    });
  }

  private async call(
    { method, url, headers = {}, json, body }: HttpRequest,
    { idempotencyKey, timeoutMs, signal }: StepToolContext,
  ): Promise<StepToolResult> {
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    try {
      const response = await this.egress.fetch(url, {
        purpose: 'tool',
        method,
        headers: {
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...sent,
          'idempotency-key': idempotencyKey,
        },
        ...(json !== undefined ? { body: JSON.stringify(json) } : body !== undefined && { body }),
        timeoutMs,
        maxBytes: MAX_SIZE,
        signal,
      });
      const { status } = response;
      const answer = { status, headers: response.headers, ...read(response.body, response.headers['content-type'] ?? '') };
      if (status === 429 || status >= 500) return { failed: `The other side answered ${status}.` };
      if (status >= 400)
        return { rejected: `The other side answered ${status}: ${excerpt(response.body)}`, mendable: status === 400 || status === 422 };
      return { output: answer };
    } catch (error) {
      signal.throwIfAborted();
      const isAgain = REPEATABLE.has(method);
      if (error instanceof EgressError && NEVER_SENT.has(error.reason) && (isAgain || !error.afterRedirect)) {
        if (error.refused) return { rejected: error.message, mendable: false };
        throw new NotSent(error.message);
      }
      throw error;
    }
  }
}

/** Text is also what says that it is JSON, and is none that can be walked. */
function read(body: Buffer, type: string): { json: unknown } | { text: string } {
  const json = /\bjson\b/i.test(type) ? readJson(body) : undefined;
  return json === undefined ? { text: body.toString('utf8') } : { json };
}

const excerpt = (body: Buffer): string => body.subarray(0, 2_000).toString('utf8').toWellFormed();
