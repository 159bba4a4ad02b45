import { ConnectionDependents, ConnectionsQueries } from '@aps/connections';
import { Connection } from '@aps/entities';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { agentsService } from './testing/agents';

const t = agentsService();
let org: TestTeam;
beforeEach(async () => void (org = await aTeam(t)));

const aConnection = (slug: string, scope: 'org' | 'private' = 'org') =>
  t.insert(Connection, {
    ...{ org_id: org.id, slug, label: slug, app_key: 'custom-mcp', provider_key: 'custom-mcp', method: 'none', status: 'active' },
    ...{ scope, owner_user_id: org.owner.id },
  });
const make = (path: string, body: object) => t.make('POST', org.path + path, { as: org.owner, body });
const uses = async (id: string, slug: string) => (await t.get(ConnectionDependents).ofEach(t.db, org.scope, [{ id, slug }])).get(id)!;

describe('connections', () => {
  it('are used by agents whose draft or live revision grants them by name, and by teams and projects that share them', async () => {
    const crm = await aConnection('crm');
    const other = await aConnection('crm-2');
    const draft = await make('/agents', { name: 'Draft' });
    await t.make('PATCH', `${org.path}/agents/${draft.id}`, { as: org.owner, body: { allowed_tools: ['crm.find'] } });
    const live = await make('/agents', { name: 'Live', allowed_tools: ['con:crm'] });
    await t.make('PATCH', `${org.path}/agents/${live.id}`, { as: org.owner, body: { allowed_tools: [] } });
    await make('/agents', { name: 'Everything', allowed_tools: ['*'] });
    await make('/agents', { name: 'Denies', denied_tools: ['con:crm'] });
    const team = await make('/agent-teams', { name: 'Sales', shared_allowed_tools: ['con:crm'] });
    expect(await uses(crm, 'crm')).toEqual({
      ...{ agent_ids: [draft.id, live.id].sort(), team_ids: [team.id], project_ids: [], process_ids: [], sync_config_ids: [] },
    });
    expect((await uses(other, 'crm-2')).agent_ids).toEqual([]);
    expect(await t.get(ConnectionDependents).wildcards(t.db, org.scope)).toBe(1);
    expect(await t.get(ConnectionsQueries).list(org.scope, {}, { limit: 1, offset: 0 })).toMatchObject({ wildcard_agent_count: 1 });
  });

  it('are shared by teams only where everybody has them', async () => {
    await aConnection('crm');
    await aConnection('mine', 'private');
    const share = async (...shared_allowed_tools: string[]) =>
      (await t.call('POST', `${org.path}/agent-teams`, { as: org.owner, body: { name: 'Sales', shared_allowed_tools } })).status;
    expect([await share('con:crm', 'crm.find'), await share('con:mine'), await share('mine.find'), await share('con:none')]).toEqual([
      201, 422, 422, 422,
    ]);
  });
});
