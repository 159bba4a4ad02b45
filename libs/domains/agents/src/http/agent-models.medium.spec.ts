import { ModelUsers } from '@aps/inference';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { agentsTestApp, MODEL, type AgentsTestApp, type TestOrg } from '../testing/agents-test-app';

const OTHER = 'other-model';

let t: AgentsTestApp;
let org: TestOrg;
beforeAll(async () => {
  t = await agentsTestApp();
  t.entitle({ direct_model_choice: true, max_agents: -1 });
  await t.db.execute(
    sql(
      `INSERT INTO model_catalog (id, key, route_id, label, provider) SELECT $1, $2, id, 'Other', 'test' FROM inference_routes WHERE slug = 'test-route'`,
    ),
    [uuidv7(), OTHER],
  );
});
afterAll(() => t.close());
beforeEach(async () => {
  org = await t.org();
});

/** What the settings of an organization tell when this is the allowlist. */
const outsideOf = (...allowed: string[]) => t.app.get(ModelUsers, { strict: false }).agentsOutside(t.db, org.scope, allowed);
const agent = (name: string, model: string | null) => t.agent(org, { name, model });
const patchAgent = (id: string, body: unknown, query = '') => t.call('PATCH', `${org.path}/agents/${id}${query}`, { as: org.owner, body });

describe('an allowlist of models for agents', () => {
  it('names the agents whose draft or live revision it leaves out, and no other', async () => {
    const outside = await agent('outside', OTHER);
    await agent('inside', MODEL);
    await agent('none', null);
    // Each of these has one model live and another as its draft.
    const [draftOnly, liveOnly] = [await agent('draft', MODEL), await agent('live', OTHER)];
    expect((await patchAgent(draftOnly.id, { model: OTHER })).status).toBe(200);
    expect((await patchAgent(liveOnly.id, { model: MODEL })).status).toBe(200);
    const deleted = await agent('deleted', OTHER);
    await t.call('DELETE', `${org.path}/agents/${deleted.id}`, { as: org.owner });
    const elsewhere = await t.org();
    await t.agent(elsewhere, { name: 'elsewhere', model: OTHER });

    const affected = [
      { id: draftOnly.id, name: 'draft', model: OTHER },
      { id: liveOnly.id, name: 'live', model: OTHER },
      { id: outside.id, name: 'outside', model: OTHER },
    ];
    expect(await outsideOf(MODEL)).toEqual(affected);

    expect(await outsideOf(MODEL, OTHER)).toEqual([]);
    expect(await outsideOf()).toEqual([]);
    for (const { id } of [liveOnly, draftOnly, outside])
      expect((await patchAgent(id, { model: MODEL, max_steps: 7 }, '?deploy=true')).status).toBe(200);
    expect(await outsideOf(MODEL)).toEqual([]);
  });
});
