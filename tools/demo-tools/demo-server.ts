import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Notes } from './notes';

const MAX_SLOW_MS = 600_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** Between two signs of life of a slow call. */
const PROGRESS_MS = 1_000;
const ROOT = 'notes://demo';
const READS = { readOnlyHint: true };

type Result = { content: { type: 'text'; text: string }[]; isError?: boolean };
type Tool = Parameters<McpServer['registerTool']>;
/** What a tool may use of the request that it answers. */
interface Extra {
  signal: AbortSignal;
  _meta?: { progressToken?: string | number; idempotency_key?: unknown };
  sendNotification(notification: {
    method: 'notifications/progress';
    params: { progressToken: string | number; progress: number; total: number };
  }): Promise<void>;
}

const text = (words: string): Result => ({ content: [{ type: 'text', text: words }] });
const refusal = (words: string): Result => ({ ...text(words), isError: true });

/** The tools and resources, for one session. */
export function demoServer(notes: Notes): McpServer {
  const server = new McpServer({ name: 'demo-tools', version: '1' });

  const tool = <Shape extends z.ZodRawShape>(
    name: string,
    description: string,
    inputSchema: Shape,
    annotations: { readOnlyHint?: boolean; destructiveHint?: boolean } | undefined,
    run: (args: z.infer<z.ZodObject<Shape>>, extra: Extra) => Result | Promise<Result>,
  ): void => {
    server.registerTool(
      name,
      { description, inputSchema, annotations } as Tool[1],
      ((args: z.infer<z.ZodObject<Shape>>, extra: Extra) => {
        const key = extra._meta?.idempotency_key;
        notes.called({ tool: name, args, key: typeof key === 'string' ? key : undefined });
        return run(args, extra);
      }) as Tool[2],
    );
  };

  tool('echo', 'Says the text again.', { text: z.string() }, READS, ({ text: words }) => text(words));
  tool('list_notes', 'Lists all notes.', {}, READS, () =>
    text(
      notes
        .all()
        .map(({ id, text: words }) => `${id}: ${words}`)
        .join('\n'),
    ),
  );
  tool('slow', 'Takes its time, and tells of progress every second.', { ms: z.int().min(0).max(MAX_SLOW_MS) }, READS, takeTime);
  tool('big', 'Answers with so many bytes.', { bytes: z.int().min(0).max(MAX_BYTES) }, READS, ({ bytes }) => text('x'.repeat(bytes)));
  tool('add_note', 'Adds a note.', { text: z.string().min(1) }, undefined, ({ text: words }) => text(`Added as ${notes.add(words).id}.`));
  tool('delete_note', 'Deletes a note for good.', { id: z.string() }, { destructiveHint: true }, ({ id }) =>
    notes.delete(id) ? text(`Deleted ${id}.`) : refusal(`There is no note ${id}.`),
  );
  tool('fail', 'Fails, with this message.', { message: z.string() }, undefined, ({ message }) => refusal(message));

  const described = ({ id, text: words }: { id: string; text: string }) => ({
    uri: `${ROOT}/${id}`,
    name: words.slice(0, 60),
    mimeType: 'text/plain',
  });
  const template = new ResourceTemplate(`${ROOT}/{id}`, { list: () => ({ resources: notes.all().map(described) }) });
  server.registerResource('notes', template, { description: 'The notes' }, (uri, { id }) => {
    const note = notes.get(String(id));
    if (!note) throw new Error(`There is no resource ${uri.href}.`);
    return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: note.text }] };
  });
  return server;
}

/** Ends early when the caller gives it up. */
async function takeTime({ ms }: { ms: number }, extra: Extra): Promise<Result> {
  const { signal, _meta } = extra;
  const token = _meta?.progressToken;
  const began = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    const ticks = setInterval(() => {
      const progress = Math.min(ms, Math.round(performance.now() - began));
      if (token !== undefined)
        void extra
          .sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress, total: ms } })
          .catch(() => undefined);
    }, PROGRESS_MS);
    function done(): void {
      clearTimeout(timer);
      clearInterval(ticks);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
  return text(`It took ${ms} ms.`);
}
