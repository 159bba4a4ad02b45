import { OrgAiSettings } from '@aps/entities';
import { ModelUsers, OwnModelsService } from '@aps/inference';
import { addModel, addRoute, whileDeleting } from '@aps/inference/testing';
import { entitle } from '@aps/billing/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { anAgent } from '../testing';
import { agentsService, MODEL } from '../testing/agents';

const OTHER = 'other-model';

const t = agentsService();
let org: TestTeam;
beforeAll(async () => {
  await entitle(t, { direct_model_choice: true, max_agents: -1 });
  await addModel(t, OTHER);
});
beforeEach(async () => {
  org = await aTeam(t);
});

/** What the settings of an organization tell when this is the allowlist. */
const outsideOf = (...allowed: string[]) => t.get(ModelUsers).agentsOutside(t.db, org.scope, allowed);
const agent = (name: string, model: string | null) => anAgent(t, org, { name, model });
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
    const elsewhere = await aTeam(t);
    await anAgent(t, elsewhere, { name: 'elsewhere', model: OTHER });

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

describe('an agent', () => {
  it('goes on with a model that is allowed no more, and changes to none', async () => {
    const [{ id }, other] = [await agent('before', MODEL), await agent('none', null)];
    await t.db.manager.insert(OrgAiSettings, { org_id: org.id, agent_model_allowlist: [OTHER] });
    expect((await patchAgent(id, { model: MODEL, max_steps: 7 })).status).toBe(200);
    expect((await patchAgent(other.id, { model: MODEL })).body.code).toBe('model_not_allowed');
  });

  it('keeps the model that it names, of the organization’s own as well', async () => {
    const elsewhere = await aTeam(t);
    await anAgent(t, elsewhere, { name: 'elsewhere', model: MODEL });
    const entry = await addModel(t, MODEL, { owner_org_id: org.id, route_id: await addRoute(t, 'own') });
    const deleting = () => t.get(OwnModelsService).delete(org.scope, entry);
    const { id } = await agent('named', MODEL);
    await expect(deleting()).rejects.toMatchObject({ code: 'model_in_use', context: { used_by: [{ kind: 'agent', id, name: 'named' }] } });
    await t.call('DELETE', `${org.path}/agents/${id}`, { as: org.owner });
    await deleting();
  });

  it('does not begin to name a model that is being deleted', async () => {
    const { id } = await agent('waiting', null);
    await addModel(t, 'going');
    const { status, body } = await whileDeleting(t, 'going', () => patchAgent(id, { model: 'going' }));
    expect([status, body.code]).toEqual([422, 'model_unknown']);
  });
});
