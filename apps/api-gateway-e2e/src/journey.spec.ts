import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from '@aps/platform/testing';
import { script, startPlatform, until, type Platform } from '../support';
import { TypedClient, type Schemas } from './typed-client';

const PASSWORD = 'correct horse battery staple';

/** One story from the first request of a stranger to what operators do about it, over the built processes and nothing but HTTP. */
describe('from sign-up to administration', () => {
  let platform: Platform;
  let nobody: TypedClient;
  let operator: TypedClient;
  let owner: TypedClient;
  let guest: TypedClient;
  let org: { org_id: string };
  let agent: Schemas['AgentResponse'];
  let ownerToken: string;

  beforeAll(async () => {
    platform = await startPlatform({ apps: ['api-gateway', 'admin-api', 'chat-worker'], env: { REGISTRATION_MODE: 'allowlist' } });
    nobody = new TypedClient(platform, null);
    operator = nobody.as(platform.demo.admin_token);
  });
  afterAll(() => platform?.stop());

  const inAgent = () => ({ ...org, agent_id: agent.id });
  const place = () => ({ org_id: org.org_id, agent_id: agent.id, token: ownerToken });

  /** The newest mail to an address that holds what is looked for, as MAIL_DIR has it. */
  const mailed = (to: string, wanted: RegExp) =>
    until(`a mail to ${to} arrives`, async () => {
      const dir = platform.env.MAIL_DIR!;
      // The folder comes with its first mail.
      const texts = !existsSync(dir)
        ? []
        : readdirSync(dir, { withFileTypes: true })
            // Those with a dot are being written.
            .filter((f) => f.isFile() && !f.name.startsWith('.'))
            .map((f) =>
              readFileSync(path.join(dir, f.name), 'utf8')
                .replace(/=\r?\n/g, '')
                .replaceAll('=3D', '='),
            );
      return texts
        .filter((t) => t.includes(to))
        .map((t) => wanted.exec(t)?.[1])
        .find(Boolean);
    });

  it('a stranger may not sign up, an operator lets them', async () => {
    const body = { email: 'ada@example.com', password: PASSWORD, name: 'Ada', org_name: 'Analytical Engines' };
    expect(await nobody.refused('post', '/api/auth/signup', { body })).toMatchObject({
      status: 403,
      body: { code: 'registration_not_allowed' },
    });
    await operator.call('post', '/api/admin/allowed-emails', { body: { email: body.email } });
    const { user, memberships } = await nobody.call('post', '/api/auth/signup', { body });
    expect([user.email, user.email_verified, memberships[0].org_name, memberships[0].role]).toEqual([
      body.email,
      false,
      'Analytical Engines',
      'OWNER',
    ]);
    org = { org_id: memberships[0].org_id };
  });

  it('proves the address by the mailed link, once', async () => {
    const body = { token: await mailed('ada@example.com', /\/verify\/([\w-]{43})/) };
    const { user, memberships } = await nobody.call('post', '/api/auth/verify', { body });
    expect([user.email, user.email_verified, memberships.length]).toEqual(['ada@example.com', true, 1]);
    expect(await nobody.refused('post', '/api/auth/verify', { body })).toMatchObject({
      status: 422,
      body: { code: 'verification_invalid' },
    });
  });

  it('logs in, and only with the right password', async () => {
    expect(
      await nobody.refused('post', '/api/auth/login', { body: { email: 'ada@example.com', password: 'something else' } }),
    ).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    const { session } = await nobody.call('post', '/api/auth/login', { body: { email: 'ADA@example.com', password: PASSWORD } });
    ownerToken = session.token;
    owner = nobody.as(ownerToken);
    expect((await owner.call('get', '/api/auth/me', {})).is_platform_admin).toBe(false);
  });

  it('invites somebody by mail, who signs up with the link and is a member', async () => {
    const invited = await owner.call('post', '/api/orgs/{org_id}/members/invitations', {
      params: org,
      body: { email: 'grace@example.com', role: 'MEMBER' },
    });
    expect(invited.kind).toBe('invitation');
    const token = await mailed('grace@example.com', /\/invite\/([\w-]{43})/);
    expect((await nobody.call('get', '/api/invitations/{token}', { params: { token } })).org_name).toBe('Analytical Engines');
    const { session, memberships } = await nobody.call('post', '/api/auth/signup', {
      body: { email: 'grace@example.com', password: PASSWORD, invitation_token: token },
    });
    expect(memberships).toMatchObject([{ ...org, role: 'MEMBER' }]);
    guest = nobody.as(session.token);
    expect((await guest.call('get', '/api/orgs/{org_id}/members', { params: org })).items.map((m) => m.email).sort()).toEqual([
      'ada@example.com',
      'grace@example.com',
    ]);
    expect(await nobody.refused('get', '/api/invitations/{token}', { params: { token } })).toMatchObject({ status: 410 });
  });

  it('makes an agent, which is live at once; a member may not', async () => {
    const body = { name: 'Support', instruction: 'Answer briefly.', model: 'mock' };
    expect(await guest.refused('post', '/api/orgs/{org_id}/agents', { params: org, body })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_role' },
    });
    agent = await owner.call('post', '/api/orgs/{org_id}/agents', { params: org, body });
    expect([agent.slug, agent.live_revision?.version, agent.instruction]).toEqual(['support', 1, 'Answer briefly.']);
  });

  it('chats, and follows the answer on the stream', async () => {
    const chat = await owner.call('post', '/api/orgs/{org_id}/agents/{agent_id}/chats', { params: inAgent(), body: { title: 'First' } });
    const stream = await platform.stream(chat.id, { place: place() });
    const params = { ...inAgent(), chat_id: chat.id };
    const sent = await owner.call('post', '/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/messages', {
      params,
      body: { content: script({ text: 'Good morning' }) },
    });
    expect(sent).toMatchObject({ chat_id: chat.id, dispatched: true, queued: false });
    await stream.until((f) => f.event === 'message_completed');
    const settled = (await platform.settled(chat.id, 1, { place: place() })) as Schemas['ChatResponse'];
    expect(settled.messages.map((m) => [m.role, m.role === 'assistant' ? m.content : ''])).toEqual([
      ['user', ''],
      ['assistant', 'Good morning'],
    ]);
    const ids = stream.ids();
    expect(ids).toEqual(ids.map((_, i) => ids[0] + i));
    // Chats are their creator's, unless shared.
    expect(await guest.refused('get', '/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}', { params })).toMatchObject({ status: 404 });
  });

  it('stops an answer that takes too long, and the chat goes on', async () => {
    const chat = await owner.call('post', '/api/orgs/{org_id}/agents/{agent_id}/chats', { params: inAgent(), body: { title: 'Second' } });
    const params = { ...inAgent(), chat_id: chat.id };
    const send = (content: string) =>
      owner.call('post', '/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/messages', { params, body: { content } });
    await send(script({ delay_ms: 60_000, text: 'Too late' }));
    await platform.untilChat(chat.id, (c) => c.status === 'RUNNING', { place: place() });
    const stopped = await owner.call('post', '/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/stop', { params, body: {} });
    expect([stopped.stopped, stopped.status]).toEqual([true, 'ACTIVE']);
    await send(script({ text: 'In time' }));
    const settled = (await platform.settled(chat.id, 1, { place: place() })) as Schemas['ChatResponse'];
    expect(settled.messages.at(-1)?.content).toBe('In time');
    expect(settled.messages.some((m) => m.content === 'Too late')).toBe(false);
  });

  it('makes a token that reads agents and nothing else, and takes it back', async () => {
    const { token, token_info } = await owner.call('post', '/api/tokens', { body: { name: 'reader', scope: 'agents:read' } });
    const program = nobody.as(token);
    // The bundles know what is a credential, too: nothing keeps it.
    const once = () =>
      platform.call('POST', '/api/tokens', { as: ownerToken, body: { name: 'once' }, headers: { 'Idempotency-Key': 'once' } });
    const [shown, again] = [await once(), await once()];
    expect([shown.body.token, again.body]).toEqual([expect.stringMatching(/^apt_/), { ...shown.body, token: null }]);
    expect([shown.headers.get('cache-control'), again.headers.get('cache-control')]).toEqual(['no-store', 'no-store']);
    expect(
      await platform.database((db) => db.query(sql('SELECT 1 FROM idempotency_keys WHERE position($1 IN body) > 0'), [shown.body.token])),
    ).toEqual([]);
    expect((await program.call('get', '/api/orgs/{org_id}/agents', { params: org, query: { limit: 1 } })).total).toBe(1);
    expect(await program.refused('post', '/api/orgs/{org_id}/agents', { params: org, body: { name: 'No' } })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    expect(await program.refused('get', '/api/orgs/{org_id}/members', { params: org })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    await owner.call('delete', '/api/tokens/{token_id}', { params: { token_id: token_info.id } });
    expect((await platform.call('GET', '/api/auth/me', { as: token })).status).toBe(401);
  });

  it('is one of the organizations that an operator sees, suspends and lets go on', async () => {
    const params = org;
    expect((await operator.call('get', '/api/admin/orgs/{org_id}', { params })).member_count).toBe(2);
    expect(await owner.refused('get', '/api/admin/orgs', {})).toMatchObject({ status: 403, body: { code: 'platform_admin_required' } });
    const seen = async () => (await platform.call('GET', `/api/orgs/${org.org_id}`, { as: ownerToken })).body.code;
    for (let i = 0; i < 5; i++) {
      await operator.call('post', '/api/admin/orgs/{org_id}/suspend', { params });
      expect(await seen()).toBe('org_suspended');
      await operator.call('post', '/api/admin/orgs/{org_id}/unsuspend', { params });
      expect(await seen()).toBeUndefined();
    }
    const audit = await operator.call('get', '/api/admin/orgs/{org_id}/audit', { params, query: { limit: 100 } });
    expect(audit.items.map((i) => i.action)).toEqual(expect.arrayContaining(['agent.created']));
  });

  it('counts what was used', async () => {
    const usage = await owner.call('get', '/api/orgs/{org_id}/usage', { params: org });
    expect(JSON.stringify(usage)).toContain(agent.id);
  });
});
