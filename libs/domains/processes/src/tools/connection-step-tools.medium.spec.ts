import type { TestOrg } from '@aps/chats/testing';
import { ConnectionsHttpModule } from '@aps/connections/http';
import { besideTools, tool } from '@aps/connections/testing';
import { CALL_LIMITS } from '@aps/tools';
import { Maintenance, MaintenanceModule } from '@aps/platform/maintenance';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { ProcessesMaintenanceModule } from '../processes.module';
import { aProcess, aRevision } from '../testing';
import { RunningService } from '../testing/running';

const t = new (besideTools(RunningService))({}, [ConnectionsHttpModule, MaintenanceModule, ProcessesMaintenanceModule]);
let org: TestOrg;
beforeAll(() => t.start());
afterAll(() => t.close());
beforeEach(async () => {
  org = await t.org();
  Object.assign(t.has, {
    sdk: undefined,
    tools: [
      {
        ...tool('count', { readOnlyHint: true }),
        inputSchema: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
      },
      tool('post'),
    ],
    calls: {
      count: () => ({ structuredContent: { count: 3 } }),
      post: () => ({ content: [{ type: 'text', text: 'no such place' }], isError: true }),
    },
  });
  t.server.seen.length = 0;
});

const connect = (scope: string, label = 'Demo') =>
  t.make('POST', `/api/orgs/${org.id}/connections`, { as: org.owner, body: { app_key: 'demo', method: 'none', label, scope } });
const step = (slug: string, args: object = {}) => ({ id: 'a', kind: 'tool', tool: slug, arguments: args });
/** Pushes a definition, and deploys it. @returns the process, and what deploying answered */
const deploying = async (...steps: object[]): Promise<{ id: string; status: number; text: string }> => {
  const of = { ...org, path: `/api/orgs/${org.id}` };
  const id = (await aProcess(t, of)).id as string;
  const revision = await aRevision(t, of, id, { steps });
  const path = `${of.path}/processes/${id}/revisions/${revision.id as string}/deploy`;
  return { id, ...(await t.call('POST', path, { as: org.owner })) };
};
const listedAnew = async () => {
  await t.make('POST', `/api/orgs/${org.id}/tool-sources/tools/refresh`, { as: org.owner, body: {} });
  await t.get(Maintenance).runAll();
};
const staleReason = async (id: string) =>
  (await t.make('GET', `/api/orgs/${org.id}/processes/${id}`, { as: org.owner })).stale_reason as string | null;

describe('a step that calls a tool of a connection', () => {
  it('has what it answered, under the key of the step', async () => {
    await connect('org');
    const process = await t.deployed(org, [step('demo.count', { of: 'sheep' })], { output: '${steps.a.output.count}' });
    const id = await t.begin(org, process);
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: 3 });
    const [call] = t.server.seen.filter(({ rpc }) => rpc === 'tools/call');
    expect(call.params).toMatchObject({ name: 'count', arguments: { of: 'sheep' }, _meta: { idempotency_key: `${id}/a` } });
  });

  it('has what nests too deep to be walked as the text that it is', async () => {
    await connect('org');
    const text = '['.repeat(20_000) + ']'.repeat(20_000);
    t.has.calls = { count: () => ({ content: [{ type: 'text', text }] }) };
    const process = await t.deployed(org, [step('demo.count', { of: 'sheep' })], { output: '${size(steps.a.output)}' });
    expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'completed', output: 40_000 });
  });

  it('fails where its server says so, and where nobody may use the connection any more', async () => {
    const { connection } = await connect('org');
    const process = await t.deployed(org, [step('demo.post')]);
    expect(await t.ended(await t.begin(org, process))).toMatchObject({
      status: 'failed',
      error: { code: 'tool_error', message: 'no such place' },
    });
    await t.make('PATCH', `/api/orgs/${org.id}/connections/${connection.id}`, { as: org.owner, body: { status: 'disabled' } });
    t.server.seen.length = 0;
    expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'failed', error: { code: 'tool_error' } });
    expect(t.server.seen).toEqual([]);
  });

  it('sends nothing to one that has taken the name of what it was deployed with', async () => {
    const path = `/api/orgs/${org.id}/connections`;
    const { connection } = await connect('org');
    const deployed = await deploying(step('demo.count', { of: 'sheep' }));
    await t.make('DELETE', `${path}/${connection.id}?acknowledge_dependents=true`, { as: org.owner });
    // Whoever connects something else under the same name gets another slug, unless an administrator does it for everybody.
    expect((await connect('private')).connection.slug).toBe('demo-2');
    expect((await connect('org')).connection.slug).toBe('demo');
    t.server.seen.length = 0;
    expect(await t.ended(await t.begin(org, deployed as never))).toMatchObject({ status: 'failed', error: { code: 'tool_error' } });
    expect(t.server.methods()).not.toContain('tools/call');
  });

  it('is cut off where nothing is heard of it for as long as a call may be silent', async () => {
    await connect('org');
    t.has.calls = { count: () => new Promise(() => undefined) };
    const limits = jest.replaceProperty(CALL_LIMITS, 'idleMs', 1_500);
    const process = await t.deployed(org, [{ ...step('demo.count', { of: 'sheep' }), retry: { max_attempts: 1 } }]);
    const ended = await t.ended(await t.begin(org, process));
    limits.restore();
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'timeout', message: 'nothing was heard of it for 1.5 s' } });
  });

  it('knows no private ones: a run acts on nobody’s behalf', async () => {
    await connect('private', 'Mine');
    expect(await deploying(step('mine.count', { of: 'sheep' }))).toMatchObject({
      status: 422,
      text: expect.stringContaining('There is no such tool') as string,
    });
  });

  it('makes its process stale when a listing brings another schema', async () => {
    await connect('org');
    const process = await deploying(step('demo.count', { of: 'sheep' }));
    expect(await staleReason(process.id)).toBeNull();
    t.has.tools = [{ ...tool('count', { readOnlyHint: true }), inputSchema: { type: 'object', properties: { of: { type: 'number' } } } }];
    await listedAnew();
    expect(await staleReason(process.id)).toBe('tool_schema_changed:demo.count');
  });

  it('makes it stale so, too, where nothing can be checked by the schema', async () => {
    const listed = (type: string) => [
      { ...tool('count'), inputSchema: { type: 'object', properties: { of: { type, pattern: '(?=a)' } } } },
    ];
    t.has.tools = listed('string');
    await connect('org');
    const process = await deploying(step('demo.count', { of: 'sheep' }));
    t.has.tools = listed('number');
    await listedAnew();
    expect(await staleReason(process.id)).toBe('tool_schema_changed:demo.count');
  });

  it('is checked by what a server of the SDK declares, which names an older draft', async () => {
    t.has.sdk = () => {
      const server = new McpServer({ name: 'sdk', version: '1' });
      server.registerTool('count', { inputSchema: { of: z.string() } }, () => ({ content: [{ type: 'text', text: '3' }] }));
      return server.server;
    };
    await connect('org');
    const process = (await deploying(step('demo.count', { of: 3 }))) as never;
    const error = { code: 'tool_rejected', message: 'of: must be string' };
    expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'failed', error });
    expect(t.server.methods()).not.toContain('tools/call');
  });
});
