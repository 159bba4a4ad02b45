import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '@aps/platform/config';
import { Egress } from '@aps/platform/egress';
import { startDemoTools, type DemoTools } from '../../../../../tools/demo-tools/server';
import { McpToolServers } from './mcp-tool-servers';
import { Unauthorized } from './tool-server';

let demo: DemoTools;
let egress: Egress;
let servers: McpToolServers;

beforeAll(async () => {
  loadConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
  egress = new Egress();
  servers = new McpToolServers(egress);
  demo = await startDemoTools({ apiKey: 'right' });
});
afterAll(async () => {
  await egress.onApplicationShutdown();
  await demo.close();
});

const address = (headers: Record<string, string> = {}) => ({ url: demo.url, headers, trusted: true });
const soon = () => AbortSignal.timeout(10_000);
const call = (name: string, args: Record<string, unknown>, signal = soon()) =>
  servers.call(address(), { name, args, idempotencyKey: 'turn/1/call', signal, progressed: () => undefined });

it('has tools of all levels, and resources', async () => {
  const { tools, hasResources } = await servers.list(address(), soon());
  expect(hasResources).toBe(true);
  expect(Object.fromEntries(tools.map(({ name, hints }) => [name, hints]))).toEqual({
    echo: { readOnlyHint: true },
    list_notes: { readOnlyHint: true },
    slow: { readOnlyHint: true },
    big: { readOnlyHint: true },
    add_note: {},
    delete_note: { destructiveHint: true },
    fail: {},
  });
  expect(tools[0].input_schema).toMatchObject({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] });
});

it('does what its tools say, and keeps who has called under which key', async () => {
  expect(await call('echo', { text: 'hi' })).toEqual({ content: 'hi', isError: false });
  expect(demo.calls.at(-1)).toEqual({ tool: 'echo', args: { text: 'hi' }, key: 'turn/1/call' });
  expect((await call('big', { bytes: 100_000 })).content).toHaveLength(100_000);
  expect(await call('fail', { message: 'no' })).toEqual({ content: 'no', isError: true });
  expect(await call('echo', {})).toMatchObject({ isError: true });

  const id = /Added as (\d+)/.exec((await call('add_note', { text: 'new' })).content)![1];
  expect((await call('list_notes', {})).content).toContain(`${id}: new`);
  const uri = `notes://demo/${id}`;
  expect(await servers.resources(address(), soon())).toContainEqual({ uri, name: 'new', media_type: 'text/plain', modified: null });
  expect(String((await servers.read(address(), uri, soon())).bytes)).toBe('new');
  expect(await call('delete_note', { id })).toEqual({ content: `Deleted ${id}.`, isError: false });
  expect(await call('delete_note', { id })).toMatchObject({ isError: true });
});

it('takes its time, and ends when it is cancelled', async () => {
  expect((await call('slow', { ms: 1 })).content).toBe('It took 1 ms.');
  const stop = new AbortController();
  const slow = call('slow', { ms: 600_000 }, stop.signal);
  while ((demo.calls.at(-1)!.args as { ms: number }).ms !== 600_000) await sleep(10);
  stop.abort();
  await expect(slow).rejects.toThrow();
});

it('takes no other key than its own', async () => {
  const keys = (key: string): Record<string, string>[] => [{ Authorization: `Bearer ${key}` }, { 'X-Api-Key': key }];
  for (const headers of keys('wrong')) await expect(servers.list(address(headers), soon())).rejects.toBeInstanceOf(Unauthorized);
  for (const headers of keys('right')) expect((await servers.list(address(headers), soon())).tools).toHaveLength(7);
});
