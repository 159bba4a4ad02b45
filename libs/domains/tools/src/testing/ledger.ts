import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sql } from '@aps/platform/testing';
import { z } from 'zod';
import { defineTool, NotSent, type CallLimits, type Tool, type ToolContext, type ToolResult } from '../tool';

/** What a call's other side can be told to do, by the memo of the call. */
type Behaviour = (request: {
  key: string;
  memo: string;
  arrived: number;
}) => Promise<'answer' | 'hang up' | 'refuse'> | 'answer' | 'hang up' | 'refuse';

/** The other side of tools that call out: an HTTP server that writes down each call that arrives, and what it had done by then. */
export class Ledger {
  /** Every call that has arrived, in their order. */
  readonly arrived: { key: string; memo: string }[] = [];
  /** What it has done: once for each key where it honours them, else for each call. */
  readonly effects: { key: string; memo: string }[] = [];
  behave: Behaviour = () => 'answer';
  private server: Server;

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      void this.take(request).then((answer) => {
        if (answer === 'hang up') return response.destroy();
        response
          .writeHead(answer === 'refuse' ? 422 : 200, { 'Content-Type': 'text/plain' })
          .end(answer === 'refuse' ? 'no such account' : 'booked');
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  of<T extends { memo: string }>(entries: T[], memo: string): T[] {
    return entries.filter((entry) => entry.memo === memo);
  }

  private async take(request: IncomingMessage): Promise<'answer' | 'hang up' | 'refuse'> {
    const key = String(request.headers['idempotency-key']);
    const memo = await text(request);
    this.arrived.push({ key, memo });
    const how = await this.behave({ key, memo, arrived: this.of(this.arrived, memo).length });
    const done = request.url === '/by-key' && this.effects.some((effect) => effect.key === key);
    if (how !== 'refuse' && !done) this.effects.push({ key, memo });
    return how;
  }
}

/** Where the ledger of the tool that has its effects in our database stands. */
export const BOOK = 'CREATE TABLE book (key text NOT NULL, memo text NOT NULL)';
const WRITE = sql('INSERT INTO book (key, memo) VALUES ($1, $2)');

/**
 * Three tools that book a memo: `con_books_inside` in our database, `con_books_by_key` at a server that knows its keys, and `con_books_once` at
 * one that does not. `con_books_hasty` is the last with a time limit of its own.
 */
export function bookingTools(ledger: { url: string }, hasty: CallLimits): Tool[] {
  const common = {
    description: 'Books',
    scope: 'con:books',
    accessLevel: 'write' as const,
    parameters: z.object({ memo: z.string() }),
  };
  const post = async (path: string, memo: string, { idempotencyKey, signal, progressed }: ToolContext): Promise<ToolResult> => {
    if (memo.startsWith('unreachable')) throw new NotSent('the bank has no address');
    if (memo.startsWith('progressing')) setTimeout(progressed, hasty.idleMs * 0.7);
    if (memo.startsWith('progressing for ever')) {
      const timer = setInterval(progressed, hasty.idleMs * 0.2);
      signal.addEventListener('abort', () => clearInterval(timer));
    }
    // One that does not listen cannot be cut; nobody waits for it.
    const listens = memo.startsWith('deaf') ? undefined : signal;
    const response = await fetch(`${ledger.url}${path}`, {
      method: 'POST',
      body: memo,
      headers: { 'Idempotency-Key': idempotencyKey },
      signal: listens,
    });
    return { kind: 'result', content: await response.text(), isError: !response.ok };
  };
  const once = { ...common, callOut: ({ memo }: { memo: string }, context: ToolContext) => post('/once', memo, context) };
  return [
    defineTool({
      ...common,
      slug: 'con_books.inside',
      name: 'con_books_inside',
      async run(tx, { memo }, { idempotencyKey }) {
        await tx.execute(WRITE, [idempotencyKey, memo]);
        return { kind: 'result', content: 'booked' };
      },
    }),
    defineTool({
      ...common,
      slug: 'con_books.by_key',
      name: 'con_books_by_key',
      hints: { idempotentHint: true },
      limits: hasty,
      callOut: ({ memo }, context) => post('/by-key', memo, context),
    }),
    defineTool({ ...once, slug: 'con_books.once', name: 'con_books_once' }),
    defineTool({ ...once, slug: 'con_books.hasty', name: 'con_books_hasty', limits: hasty }),
  ];
}
