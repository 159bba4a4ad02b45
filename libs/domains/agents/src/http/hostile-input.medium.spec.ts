import { agentsTestApp, type AgentsTestApp, type TestOrg } from '../testing/agents-test-app';

// Hundreds of requests a test: on a busy machine they take longer than a test usually may.
jest.setTimeout(180_000);

/** As JSON text, because some of it cannot be written as a value. */
const VALUES = [
  ...[
    'null',
    'true',
    '0',
    '-1',
    '1e308',
    '1e999',
    '-0',
    '2147483648',
    '0.0000001',
    '""',
    '" "',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\u202e"',
    '"%"',
    '"{}"',
    '"none"',
    '"*"',
  ],
  ...[
    '"NaN"',
    '"1e5"',
    '"99999999999999999999"',
    '"\'; DROP TABLE agents; --"',
    '"00000000-0000-0000-0000-000000000000"',
    `"${'x'.repeat(120_000)}"`,
    `"${'é'.repeat(64)}"`,
  ],
  ...[
    '[]',
    '[[["x"]]]',
    '[null]',
    '["core","core"]',
    '["agent:constructor"]',
    `[${'"core",'.repeat(600)}"core"]`,
    '[{"file_id":1}]',
    '[{"file_id":"x","filename":"\\u0000"}]',
  ],
  ...[
    '{}',
    '{"a":{}}',
    '{"$ne":null}',
    '{"toString":1}',
    '{"hasOwnProperty":1}',
    '{"__proto__":{"admin":true}}',
    `${'{"x":'.repeat(60)}1${'}'.repeat(60)}`,
    '{"a\\u0000":1}',
    '{"x":"\\ud800"}',
  ],
];
const BODIES = ['', '{', '[]', 'null', '"text"', '1', '{"name":', '{"name":"a","name":1}'];

const AGENT = [
  ...[
    'name',
    'slug',
    'description',
    'avatar_seed',
    'team_id',
    'project_id',
    'instruction',
    'model',
    'model_mode',
    'reasoning_effort',
    'allowed_tools',
    'denied_tools',
    'mounted_skills',
  ],
  ...[
    'knowledge_base_ids',
    'environment_id',
    'child_agent_ids',
    'max_steps',
    'max_child_depth',
    'budget_credits_per_period',
    'memory_enabled',
    'metadata',
  ],
];
const SKILL = ['name', 'slug', 'description', 'content', 'files'];

async function eightAtATime<T>(items: T[], fn: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const work = async () => {
    for (const item of rest) await fn(item);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

describe('hostile input', () => {
  let t: AgentsTestApp;
  let org: TestOrg;
  let agentId: string;
  beforeAll(async () => {
    t = await agentsTestApp();
    org = await t.org();
    agentId = (await t.agent(org)).id;
    await t.call('POST', `${org.path}/skills`, { as: org.owner, body: { name: 'Kept', description: 'd', content: 'c' } });
  });
  afterAll(() => t.close());

  it.each([
    ['POST', '/agents', '{"name":"A"', AGENT],
    ['PATCH', '/agents/AGENT', '{"x":0', AGENT],
    ['PATCH', '/agents/AGENT?deploy=true', '{"x":0', ['name', 'instruction', 'metadata', 'description']],
    ['PUT', '/agents/AGENT/instruction/draft', '{"content":"c"', ['content', 'base_version']],
    ['POST', '/agents/AGENT/memories', '{"content":"c"', ['content']],
    ['POST', '/skills', '{"name":"A","description":"d","content":"c"', SKILL],
    ['PUT', '/skills/kept', '{"name":"A","description":"d","content":"c"', SKILL],
  ])('in a body is refused or stored, never a fault: %s %s', async (method, path, rest, fields) => {
    const faults: unknown[] = [];
    const bodies = [...BODIES, ...fields.flatMap((field) => VALUES.map((value) => `${rest},"${field}":${value}}`))];
    await eightAtATime(bodies, async (body) => {
      const answer = await t.call(method, org.path + path.replace('AGENT', agentId), { as: org.owner, body });
      if (answer.status >= 500) faults.push([answer.status, body.slice(0, 200)]);
      if (answer.status === 422)
        expect(answer.body).toMatchObject({ detail: expect.any(Array), code: expect.any(String), request_id: expect.any(String) });
    });
    expect(faults).toEqual([]);
  });

  const WORDS = [
    '%00',
    '%ff',
    '%ed%a0%80',
    '..%2f..',
    '%27',
    '%25',
    '_',
    'constructor',
    '-1',
    '1e9',
    'x'.repeat(5_000),
    '',
    'none',
    '%F0%9F%98%80',
  ];

  it('in a path finds nothing', async () => {
    // What the requests above have made may bear one of these names.
    for (const word of WORDS.filter((w) => w !== '' && w !== 'none')) {
      for (const path of [
        `/agents/${word}`,
        `/agents/${word}/rollouts`,
        `/agents/${agentId}/revisions/${word}`,
        `/agents/${agentId}/rollouts/${word}`,
        `/skills/${word}`,
      ]) {
        const { status } = await t.call('GET', org.path + path, { as: org.owner });
        expect([path.slice(0, 80), [400, 404, 422].includes(status)]).toEqual([path.slice(0, 80), true]);
      }
    }
  });

  it('in a query is refused or finds nothing', async () => {
    const names = ['limit', 'offset', 'q', 'team_id', 'project_id', 'limit[]', 'q[a]', '__proto__'];
    for (const path of [
      '/agents',
      '/skills',
      `/agents/${agentId}/revisions`,
      `/agents/${agentId}/rollouts`,
      `/agents/${agentId}/memories`,
      `/agents/${agentId}/instruction/revisions`,
    ]) {
      await eightAtATime(
        names.flatMap((name) => WORDS.map((word) => `${name}=${word}`)),
        async (query) => {
          const { status } = await t.call('GET', `${org.path}${path}?${query}`, { as: org.owner });
          expect([path, query.slice(0, 80), [200, 400, 422].includes(status)]).toEqual([path, query.slice(0, 80), true]);
        },
      );
    }
    expect((await t.call('PATCH', `${org.path}/agents/${agentId}?deploy=perhaps`, { as: org.owner, body: {} })).status).toBe(422);
  });
});
