import { BillingModule } from '@aps/billing';
import { anOrg, aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql, type Bearer } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { UsageSeeds } from '../testing/usage-seeds';
import { OrgUsageHttpModule } from './administration-http.module';

const HOUR = 3_600_000;

describe('usage of an organization', () => {
  const t = testService([...BASE_MODULES, BillingModule, OrgUsageHttpModule]);
  let org: TestTeam;
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR);
  const fiveDaysAgo = hoursAgo(5 * 24);
  const usage = (query = '', as: Bearer = org.member) => t.call('GET', `${org.path}/usage${query}`, { as });

  beforeAll(async () => {
    org = await aTeam(t);
    const seeds = new UsageSeeds(t, org.id);
    const [ada, bob] = [await seeds.agent('Ada'), await seeds.agent('Bob')];
    const [recent, old] = [await seeds.chat(ada, hoursAgo(1)), await seeds.chat(bob, fiveDaysAgo)];
    await seeds.chat(bob, hoursAgo(40 * 24));
    await seeds.turn(recent, 1, hoursAgo(1));
    await seeds.turn(recent, 2, hoursAgo(0.5), 'cancelled');
    await seeds.turn(recent, 3, hoursAgo(0.25), 'skipped');
    await seeds.turn(recent, 4, hoursAgo(0.1), 'running');
    await seeds.turn(old, 1, fiveDaysAgo);
    await seeds.receipt(hoursAgo(1), {
      agent_id: ada.agent_id,
      input_tokens: 100,
      cached_input_tokens: 20,
      cache_write_tokens: 3,
      output_tokens: 40,
      reasoning_tokens: 5,
      usd_cost: '0.1',
      credits: '10',
    });
    await seeds.receipt(hoursAgo(0.5), {
      agent_id: ada.agent_id,
      feature: 'title',
      model_key: 'mock-small',
      output_tokens: 2,
      usd_cost: '0.000001',
      credits: '0.000002',
    });
    await seeds.receipt(hoursAgo(0.4), { feature: 'embedding', model_key: 'embed', input_tokens: 1, usd_cost: null });
    await seeds.receipt(fiveDaysAgo, { agent_id: bob.agent_id, input_tokens: 1000, usd_cost: '1', credits: '100' });
    await seeds.receipt(hoursAgo(40 * 24), { agent_id: bob.agent_id, input_tokens: 9999, usd_cost: '9', credits: '900' });

    const others = new UsageSeeds(t, (await anOrg(t)).id);
    const eve = await others.agent('Eve');
    await others.turn(await others.chat(eve, hoursAgo(1)), 1, hoursAgo(1));
    await others.receipt(hoursAgo(1), { agent_id: eve.agent_id, input_tokens: 7777, usd_cost: '7', credits: '7' });
  });

  it('sums up a window to the last digit, of this organization only', async () => {
    const { status, body } = await usage('?window=24h');
    expect(status).toBe(200);
    expect(body).toMatchObject({ window: '24h', totals: { chats: 1, turns: 2, tokens: 171, cost_usd: '0.100001', credits: '10.000002' } });
    expect(new Date(body.to as string).getTime() - new Date(body.from as string).getTime()).toBe(24 * HOUR);
    expect(body.by_agent).toEqual([
      { agent_id: expect.any(String), agent_name: 'Ada', chats: 1, turns: 2, tokens: 170, cost_usd: '0.100001', credits: '10.000002' },
      { agent_id: null, agent_name: null, chats: 0, turns: 0, tokens: 1, cost_usd: '0', credits: '0' },
    ]);
    expect(body.by_model).toEqual([
      { model_key: 'mock-large', calls: 1, tokens: 168, cost_usd: '0.1', credits: '10' },
      { model_key: 'mock-small', calls: 1, tokens: 2, cost_usd: '0.000001', credits: '0.000002' },
      { model_key: 'embed', calls: 1, tokens: 1, cost_usd: '0', credits: '0' },
    ]);
    expect(body.by_feature.map((f: { feature: string }) => f.feature)).toEqual(['turn', 'title', 'embedding']);
  });

  it('begins a window at its instant, and not with an hour', async () => {
    const other = await anOrg(t);
    const seeds = new UsageSeeds(t, other.id);
    const eve = await seeds.agent('Eve');
    for (const minutes of [-1, 1]) {
      const at = hoursAgo(24 + minutes / 60);
      await seeds.turn(await seeds.chat(eve, at), 1, at);
      await seeds.receipt(at, { agent_id: eve.agent_id, input_tokens: 10 });
    }
    const { body } = await t.call('GET', `/api/orgs/${other.id}/usage?window=24h`, { as: other.owner });
    expect(body.totals).toMatchObject({ chats: 1, turns: 1, tokens: 10 });
  });

  it('counts a turn no more that is cancelled later, and a chat still that is deleted', async () => {
    const other = await anOrg(t);
    const seeds = new UsageSeeds(t, other.id);
    const chat = await seeds.chat(await seeds.agent('Eve'), fiveDaysAgo);
    await seeds.turn(chat, 1, fiveDaysAgo, 'waiting');
    const used = async () => (await t.call('GET', `/api/orgs/${other.id}/usage`, { as: other.owner })).body;
    expect((await used()).totals).toMatchObject({ chats: 1, turns: 1 });
    await t.db.execute(sql(`UPDATE turns SET status = 'cancelled' WHERE chat_id = $1`), [chat]);
    await t.db.execute(sql('UPDATE chats SET deleted_at = now() WHERE id = $1'), [chat]);
    expect((await used()).totals).toMatchObject({ chats: 1, turns: 0 });
    await t.db.execute(sql('DELETE FROM turns WHERE chat_id = $1'), [chat]);
    await t.db.execute(sql('DELETE FROM chats WHERE id = $1'), [chat]);
    expect(await used()).toMatchObject({ totals: { chats: 0, turns: 0 }, by_agent: [], by_model: [] });
  });

  it('lists every day of a window, the days making up the sum', async () => {
    const { body } = await usage('?window=7d');
    const days = body.by_day as { day: string; tokens: number; turns: number; chats: number }[];
    expect(days).toHaveLength(8);
    expect(days.map((d) => d.day)).toEqual([...days.map((d) => d.day)].sort());
    expect(days.reduce((sum, d) => sum + d.tokens, 0)).toBe(1171);
    expect(body.totals).toMatchObject({
      tokens: 1171,
      chats: days.reduce((sum, d) => sum + d.chats, 0),
      turns: days.reduce((sum, d) => sum + d.turns, 0),
    });
    const day = fiveDaysAgo.toISOString().slice(0, 10);
    expect(days.find((d) => d.day === day)).toMatchObject({ chats: 1, turns: 1, tokens: 1000 });
  });

  it('looks back thirty days unless asked otherwise', async () => {
    const { body } = await usage();
    expect(body).toMatchObject({ window: '30d', totals: { chats: 2, turns: 3, tokens: 1171, credits: '110.000002' } });
    expect(await usage('?window=1y')).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'window'], type: 'enum' }] } });
  });
});
