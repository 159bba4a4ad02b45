import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { InboxChannel, InboxEnvelope, InboxMessage, InboxReply, InboxRevision, type TraceRow } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { addModel } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { InboxesHttpModule } from '.';

const t = testService([...BASE_MODULES, AgentsHttpModule, BillingModule, InferenceModule, InboxesHttpModule]);
let org: TestTeam;
let inboxId: string;
let path: string;
let slugs = 0;

type Body = Record<string, unknown>;
const HOUR = 3_600_000;
const ago = (ms: number) => new Date(t.db.now().getTime() - ms);
const anInbox = async (team = org) =>
  (
    await t.make('POST', `${team.path}/inboxes`, {
      as: team.owner,
      body: { name: 'Orders', slug: `in${++slugs}`, channels: ['email', 'webhook'] },
    })
  ).id as string;

beforeAll(() => addModel(t, 'test-model'));
beforeEach(async () => {
  org = await aTeam(t);
  inboxId = await anInbox();
  path = `${org.path}/inboxes/${inboxId}/messages`;
});

const SETTLED = {
  accepted: { verdict: 'accepted' },
  failed: { verdict: 'accepted' },
  held: { verdict: 'quarantined', hold_reason: 'quarantined' },
  dropped: { verdict: 'dropped' },
  evaluating: { status: 'queued', verdict: null },
} as const;

/** Writes a message; each came a second before the one written before it. */
let seconds = 0;
const put = (state: keyof typeof SETTLED = 'accepted', row: Partial<InboxMessage> = {}) =>
  t.insert(InboxMessage, {
    ...{ org_id: org.id, inbox_id: inboxId, channel_id: uuidv7(), channel_kind: 'email', sender_key: 'ann@acme.com', size_bytes: 10 },
    ...{ status: 'settled', state, raw_expires_at: ago(-HOUR), received_at: ago(++seconds * 1_000), finished_at: ago(0) },
    ...SETTLED[state],
    ...row,
  });

const read = (below = '', as = org.member) => t.call('GET', path + below, { as });
const page = async (query = '') => {
  const { status, body } = await read(query);
  expect([query, status]).toEqual([query, 200]);
  const { items, total } = body as unknown as { items: { id: string }[]; total: number };
  expect([query, total]).toEqual([query, items.length]);
  return items.map(({ id }) => id);
};

describe('the list', () => {
  it('shows what came, newest first, without what it says', async () => {
    const revision_id = await t.insert(InboxRevision, {
      org_id: org.id,
      inbox_id: inboxId,
      version: 3,
      hash: 'x',
      definition: {},
      status: 'archived',
    });
    const chat_id = uuidv7();
    const id = await put('accepted', {
      ...{ sender_address: 'ann@acme.com', sender_name: 'Ann', subject: 'Order 7', recipient: 'in+a@acme.example', tags: ['vip'] },
      ...{
        decided_by: 'vip',
        revision_id,
        dispatched: { kind: 'agent', chat_id },
        previous_dispatches: [{ kind: 'agent', chat_id }],
        duplicates: 2,
      },
    });
    const older = await put('held', { channel_kind: 'webhook', sender_name: 'nobody' });
    await t.insert(InboxReply, {
      ...{ org_id: org.id, inbox_id: inboxId, message_id: id, chat_id, source_id: uuidv7(), to_address: 'ann@acme.com', body_text: 'Yes.' },
      ...{ state: 'sent', due_at: ago(2_000), sent_at: ago(1_000) },
    });
    const { body } = await read('?limit=1');
    expect(body).toMatchObject({ total: 2, next_offset: 1 });
    expect((body.items as Body[])[0]).toEqual({
      ...{
        id,
        channel: { id: expect.any(String) as string, kind: 'email' },
        recipient: 'in+a@acme.example',
        sender: { address: 'ann@acme.com', name: 'Ann' },
      },
      ...{
        subject: 'Order 7',
        size_bytes: 10,
        tags: ['vip'],
        received_at: expect.any(String) as string,
        verdict: 'accepted',
        state: 'accepted',
      },
      ...{ evaluation_state: 'settled', hold_reason: null, decided_by: 'vip', revision: { id: revision_id, version: 3 } },
      ...{ dispatched: { kind: 'agent', chat_id }, raw_available: true, raw_expires_at: expect.any(String) as string, terminated_at: null },
      ...{ reply: { state: 'sent', due_at: expect.stringMatching(/Z$/) as string, sent_at: expect.stringMatching(/Z$/) as string } },
      ...{ duplicates: 2, last_duplicate_at: null },
    });
    const next = (await read('?limit=1&offset=1')).body;
    expect(next).toMatchObject({ total: 2, next_offset: null });
    expect((next.items as Body[])[0]).toMatchObject({
      ...{ id: older, sender: null, revision: null, dispatched: null, reply: { state: 'none', due_at: null, sent_at: null } },
      ...{ hold_reason: 'quarantined' },
    });
  });

  it('is of each filter, and of all of them together', async () => {
    const [accepted, failed, held, dropped, evaluating] = [
      await put('accepted', { decided_by: 'vip' }),
      await put('failed'),
      await put('held', { channel_kind: 'webhook' }),
      await put('dropped'),
      await put('evaluating'),
    ];
    // Terminated while it was held, and while it was evaluated.
    const ended = await put('dropped', { verdict: 'quarantined', terminated_at: ago(0) });
    const undecided = await put('dropped', { verdict: null });
    // Of another inbox.
    await put('accepted', { inbox_id: await anInbox() });
    const all = [accepted, failed, held, dropped, evaluating, ended, undecided];
    for (const [query, ids] of [
      ['', all],
      ['?lane=all', all],
      ['?state=', []],
      ['?state=&lane=accepted', []],
      ['?state=held', [held]],
      ['?state=held&state=failed', [failed, held]],
      ['?state=dropped&state=evaluating', [dropped, evaluating, ended, undecided]],
      ['?lane=needs_attention', [failed, held]],
      ['?lane=accepted', [accepted]],
      ['?lane=dropped', [dropped, ended, undecided]],
      ['?lane=needs_attention&state=held&state=dropped', [held]],
      ['?evaluation_state=evaluating', [evaluating]],
      ['?evaluation_state=settled', [accepted, failed, held, dropped, ended, undecided]],
      ['?evaluation_state=settled&lane=accepted&state=held', []],
      ['?verdict=accepted', [accepted, failed]],
      ['?verdict=dropped', [dropped]],
      ['?verdict=quarantined', [held, ended]],
      ['?verdict=quarantined&lane=dropped', [ended]],
      ['?channel=webhook', [held]],
      ['?channel=email&state=held', []],
      ['?channel=webhook&lane=needs_attention&verdict=quarantined&evaluation_state=settled&within_hours=1', [held]],
      ['?search=vip', [accepted]],
      ['?search=vip&state=held', []],
      ['?search=', all],
    ] as const)
      expect([query, await page(query)]).toEqual([query, ids]);
  });

  it('leaves what is quarantined under evaluation out', async () => {
    await put('evaluating', { verdict: 'quarantined' });
    expect(await page('?verdict=quarantined')).toEqual([]);
  });

  it('finds parts of sender, subject and what decided, in any case, and % and _ as themselves', async () => {
    const names = ['a%b', 'a_b', 'axb', String.raw`a\b`];
    const [percent, underscore, x, backslash] = await Promise.all(names.map((subject) => put('accepted', { subject })));
    const sender = await put('accepted', { sender_address: 'bob@acme.com', sender_name: 'Robert' });
    const stage = await put('dropped', { decided_by: 'no-robots' });
    const ofAll = async (search: string) => (await page(`?search=${encodeURIComponent(search)}`)).sort();
    expect(await ofAll('A%B')).toEqual([percent]);
    expect(await ofAll('a_b')).toEqual([underscore]);
    expect(await ofAll(String.raw`a\b`)).toEqual([backslash]);
    expect(await ofAll('axb')).toEqual([x]);
    expect(await ofAll('bob@')).toEqual([sender]);
    expect(await ofAll('ROB')).toEqual([sender, stage].sort());
    // Of one beside another there is nothing.
    expect(await ofAll('comRob')).toEqual([]);
  });

  it('is of a window up to now, to the millisecond', async () => {
    const young = await put('accepted', { received_at: ago(59 * 60_000) });
    const older = await put('accepted', { received_at: ago(61 * 60_000) });
    const oldest = await put('held', { received_at: ago(30 * HOUR) });
    expect(await page('?within_hours=1')).toEqual([young]);
    expect(await page('?within_hours=2')).toEqual([young, older]);
    expect(await page('?within_hours=31&state=held')).toEqual([oldest]);
    expect(await page('?within_hours=29&state=held')).toEqual([]);
    expect(await page('?within_hours=100000')).toEqual([young, older, oldest]);
  });

  it('is whole where no limit is asked for', async () => {
    for (let i = 0; i < 120; i++) await put(i % 2 ? 'held' : 'dropped');
    const { body } = await read();
    expect([body.total, body.next_offset, (body.items as unknown[]).length]).toEqual([120, null, 120]);
    expect(await page('?state=held&state=dropped&offset=0')).toHaveLength(120);
    expect((await read('?limit=100&offset=100&state=held&state=dropped')).body).toMatchObject({ total: 120, next_offset: null });
  });

  it.each([
    ...['?state=open', '?state=held&state=x', '?lane=mine', '?verdict=held', '?evaluation_state=done', '?channel=fax'],
    ...[
      '?within_hours=0',
      '?within_hours=-1',
      '?within_hours=x',
      '?within_hours=99999999999',
      '?limit=0',
      '?limit=101',
      '?offset=-1',
      `?search=${'x'.repeat(201)}`,
    ],
  ])('refuses %s', async (query) => {
    expect((await read(query)).status).toBe(422);
  });
});

describe('counts', () => {
  const counts = async (query = '') => (await read(`/counts${query}`)).body;
  const none = { total: 0, accepted: 0, dropped: 0, quarantined: 0, held: 0, failed: 0, evaluating: 0, needs_attention: 0 };

  it('go by state, and by the verdict of what is settled', async () => {
    expect(await counts()).toEqual(none);
    await put('accepted', { decided_by: 'vip', channel_kind: 'webhook' });
    await put('accepted', { received_at: ago(50 * HOUR) });
    await put('failed', { subject: 'VIP' });
    await put('held');
    await put('dropped');
    await put('dropped', { verdict: 'quarantined' });
    await put('evaluating', { verdict: 'quarantined' });
    const all = { total: 7, accepted: 2, dropped: 2, quarantined: 2, held: 1, failed: 1, evaluating: 1, needs_attention: 2 };
    expect(await counts()).toEqual(all);
    // They take neither.
    expect(await counts('?state=held&lane=accepted')).toEqual(all);
    expect(await counts('?within_hours=24')).toEqual({ ...all, total: 6, accepted: 1 });
    expect(await counts('?channel=webhook')).toEqual({ ...none, total: 1, accepted: 1 });
    expect(await counts('?search=vip')).toEqual({ ...none, total: 2, accepted: 1, failed: 1, needs_attention: 1 });
    expect(await counts('?search=vip&channel=email&within_hours=1')).toEqual({ ...none, total: 1, failed: 1, needs_attention: 1 });
    expect((await read('/counts?within_hours=0')).status).toBe(422);
  });
});

const TRACED = sql('INSERT INTO inbox_traces (message_id, org_id, evaluation_no, rows) VALUES ($1, $2, $3, $4)');

describe('a message', () => {
  const row = (stage_id: string, over: Partial<TraceRow> = {}): TraceRow => ({
    ...{
      stage_id,
      kind: 'match',
      outcome: 'continue',
      matched: false,
      detail: null,
      started_at: '2026-05-01T10:00:00.000Z',
      duration_ms: 0.5,
    },
    ...over,
  });
  const classifier = { label: 'sales', confidence: 0.9, model: 'mock', cost_usd: '0.002', cost_credits: '2.500000' };

  it('says what it says, and what became of it', async () => {
    const id = await put('accepted');
    const file = { file_id: uuidv7(), filename: 'a.pdf', media_type: 'application/pdf', size_bytes: 5 };
    await t.db.manager.getRepository(InboxEnvelope).insert({
      ...{
        message_id: id,
        org_id: org.id,
        headers: { authorization: '***', subject: 'Order' },
        body_text: 'Ten.',
        payload: () => `'[1, {"a": null}]'`,
      },
      ...{ attachments: [file], auth: { spf: 'pass', dkim: 'none', dmarc: 'fail' }, automatic: 'list', reply_to: 'ann@acme.com' },
    });
    const traced = (evaluation: number, rows: TraceRow[]) => t.db.execute(TRACED, [id, org.id, evaluation, JSON.stringify(rows)]);
    await traced(1, [row('size', { kind: 'gate' }), row('vip')]);
    await traced(2, [row('triage', { kind: 'classifier', classifier })]);
    await traced(1, [row('terminated', { kind: 'terminated', detail: { user_id: 'x' } })]);
    const { body } = await read(`/${id}`);
    expect(body.envelope).toEqual({
      ...{ headers: { authorization: '***', subject: 'Order' }, body_text: 'Ten.', payload: [1, { a: null }], attachments: [file] },
      auth: { spf: 'pass', dkim: 'none', dmarc: 'fail' },
    });
    const trace = body.trace as Body[];
    expect(trace.map(({ seq, stage_id }) => [seq, stage_id])).toEqual([
      [1, 'size'],
      [2, 'vip'],
      [3, 'triage'],
      [4, 'terminated'],
    ]);
    expect(trace[0]).toEqual({ ...row('size', { kind: 'gate' }), seq: 1, classifier: null });
    expect(trace[2].classifier).toEqual({ label: 'sales', confidence: 0.9, model: 'mock', cost: { cost_usd: '0.002', credits: '2.5' } });
    expect(body).toMatchObject({ id, previous_dispatches: [], evaluation_state: 'settled' });

    await entitle(t, { enforces_credits: true });
    const hidden = (await read(`/${id}`)).body.trace as { classifier: Body | null }[];
    await entitle(t, { enforces_credits: false });
    expect(hidden[2].classifier?.cost).toEqual({ cost_usd: null, credits: '2.5' });
  });

  it('says when what it says is gone', async () => {
    const old = await put('accepted', { raw_expires_at: ago(1_000) });
    const cleared = await put('accepted', { raw_available: false });
    for (const id of [old, cleared]) expect((await read(`/${id}`)).body.raw_available).toBe(false);
  });

  it('is found in its inbox alone, as long as that is there', async () => {
    const id = await put();
    const paths = ['', '/counts', `/${id}`, `/${id}/diagnosis`];
    for (const below of paths)
      expect([below, (await t.call('GET', `${org.path}/inboxes/garbage/messages${below}`, { as: org.owner })).status]).toEqual([
        below,
        404,
      ]);
    const beside = await anInbox();
    expect((await t.call('GET', `${org.path}/inboxes/${beside}/messages/${id}`, { as: org.owner })).status).toBe(404);
    expect([(await read(`/${uuidv7()}`)).status, (await read('/x')).status]).toEqual([404, 422]);
    await t.call('DELETE', `${org.path}/inboxes/${inboxId}`, { as: org.owner });
    for (const below of paths) expect([below, (await read(below)).status]).toEqual([below, 404]);
  });

  it('stays when its channel is deleted', async () => {
    const [channel] = await t.db.manager.find(InboxChannel, { where: { inbox_id: inboxId } });
    const id = await put('held', { channel_id: channel.id });
    await t.call('DELETE', `${org.path}/inboxes/${inboxId}/channels/${channel.id}`, { as: org.owner });
    expect((await read(`/${id}`)).body.channel).toEqual({ id: channel.id, kind: 'email' });
  });
});
