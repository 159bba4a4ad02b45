import { once } from 'node:events';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { EnvironmentCommand } from '@aps/entities';
import type { TestTeam } from '@aps/orgs/testing';
import { Maintenance } from '@aps/platform/maintenance';
import { metrics } from '@aps/platform/observability';
import { eventually, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { CommandsRepository } from '../commands/commands.repository';
import { Commands, type WantedCommand } from '../commands/commands.service';
import { ENVIRONMENT_MODULES, EnvironmentsService, HELLO, MachineSocket, type TestMachine } from '../testing';
import { MachineSockets } from './machine-sockets';

const t = new EnvironmentsService();
let org: TestTeam;
let machine: TestMachine;
let elsewhere: string;
const sockets: MachineSocket[] = [];

beforeAll(async () => {
  await t.start();
  elsewhere = await t.serve(ENVIRONMENT_MODULES);
  org = await t.team();
});
afterAll(() => t.close());
beforeEach(async () => {
  machine = await t.machine(org);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.cut();
});

/** Closed with the case, whatever becomes of it. */
const kept = async (opening: Promise<MachineSocket>) => {
  const socket = await opening;
  sockets.push(socket);
  return socket;
};
const connect = (work?: string[], url?: string) => kept(machine.connect(work, url));
const at = (method: string, below = '') => t.call(method, `${org.path}/environments/${machine.id}${below}`, { as: org.owner });
const isConnected = async () => (await at('GET')).body.connected as boolean;
const run = (wanted: Partial<WantedCommand> = {}) => {
  const id = uuidv7();
  const owner = { orgId: org.id, environmentId: machine.id, callKey: `${id}/1/1`, rootChatId: id, of: null };
  const nothing = { kind: 'exec', command: 'make', workdir: '/workspace', path: null, content: null } as const;
  return t.get(Commands).run(owner, { ...nothing, ...wanted }, new AbortController().signal);
};
const rowOf = (id: string) => t.db.manager.findOneByOrFail(EnvironmentCommand, { id });
const exit = (work_id: string, exit_code: number | null = 0) => ({ type: 'exit', work_id, exit_code, timed_out: false, truncated: false });
const output = (work_id: string, data: string, stream = 'stdout') => ({ type: 'output', work_id, stream, data });

describe('the socket of a machine', () => {
  it('is opened by its token alone', async () => {
    for (const token of ['nonsense', `aed_${'x'.repeat(43)}`, org.owner.token])
      expect(await MachineSocket.refused(t.url, token)).toEqual({
        ...{ status: 401, type: expect.stringContaining('application/json') },
        body: { code: 'not_authenticated', detail: expect.any(String), request_id: expect.any(String) },
      });
    expect(await MachineSocket.refused(t.url, machine.token, '/api/me')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('says what the machine is, and that it is there until it is closed', async () => {
    const socket = await kept(MachineSocket.open(t.url, machine.token, '/api/daemon/connect?v=1'));
    expect((await at('GET')).body.status).toBe('pending');
    socket.say({ type: 'hello', ...HELLO, newer: true });
    expect(await socket.told('welcome')).toEqual({ type: 'welcome', environment_id: machine.id, heartbeat_interval_s: 15 });
    expect(await isConnected()).toBe(true);
    expect(await metrics.getSingleMetricAsString('machines_connected')).toContain('machines_connected ');
    await socket.end();
    await eventually(isConnected, (connected) => !connected);
    expect((await at('GET')).body.status).toBe('offline');
  });

  it('carries commands and what they came to', async () => {
    const socket = await connect();
    const pinged = at('POST', '/ping');
    const ping = await socket.told('exec');
    expect(ping).toEqual({
      ...{ type: 'exec', command: 'true', workdir: '/workspace', timeout_s: 10 },
      ...{ work_id: expect.any(String), workspace: expect.any(String) },
    });
    socket.say(exit(ping.work_id));
    expect((await pinged).body).toMatchObject({ ok: true });

    const ran = run({ command: 'make', workdir: '/workspace/app' });
    const { work_id, ...work } = await socket.told('exec');
    expect(work).toMatchObject({ command: 'make', workdir: '/workspace/app', timeout_s: 600 });
    for (const data of ['a', '\ud83d', 'b\0c']) socket.say(output(work_id, data));
    socket.say(output(work_id, 'warning', 'stderr'));
    socket.say(exit(work_id, 2));
    const end = { status: 'done', exit_code: 2, stdout: 'a\ufffdbc', stderr: 'warning', timed_out: false, truncated: false };
    expect(await ran).toMatchObject(end);
  });

  it('keeps head and tail of what a command writes', async () => {
    const socket = await connect();
    const ran = run();
    const { work_id } = await socket.told('exec');
    for (const letter of 'abcde') socket.say(output(work_id, letter.repeat(128 * 1024)));
    socket.say(exit(work_id));
    const { stdout, truncated } = await ran;
    expect(truncated).toBe(true);
    expect(stdout.replace(/(.)\1+/g, '$1')).toBe('a\n[393216 bytes are mising here]\ne');
  });

  it('carries files', async () => {
    const socket = await connect();
    const content = Buffer.alloc(512 * 1024, 7);
    const put = run({ kind: 'put_file', command: null, path: '/workspace/a', content });
    const { work_id, ...file } = await socket.told('put_file');
    expect(file).toMatchObject({ path: '/workspace/a', content_base64: content.toString('base64') });
    socket.say(exit(work_id));
    expect(await put).toMatchObject({ status: 'done', exit_code: 0 });
    const got = run({ kind: 'get_file', command: null, path: '/workspace/a' });
    const asked = await socket.told('get_file');
    socket.say({ type: 'file', work_id: asked.work_id, content_base64: content.toString('base64') });
    expect((await got).content?.equals(content)).toBe(true);
    const missing = run({ kind: 'get_file', command: null, path: '/workspace/b' });
    const { work_id: failing } = await socket.told('get_file');
    socket.say(output(failing, 'No such file', 'stderr'));
    socket.say(exit(failing, 1));
    expect(await missing).toMatchObject({ exit_code: 1, stderr: 'No such file', content: null });
  });

  it('carries no more than eight at once, and the next when one is over', async () => {
    const socket = await connect();
    const ran = Array.from({ length: 9 }, () => run());
    const works = [];
    while (works.length < 8) works.push((await socket.told('exec')).work_id);
    const waiting = async () => t.db.manager.countBy(EnvironmentCommand, { environment_id: machine.id, status: 'queued' });
    expect(await eventually(waiting, (count) => count === 1)).toBe(1);
    socket.say(exit(works.pop()!));
    works.push((await socket.told('exec')).work_id);
    for (const work of works) socket.say(exit(work));
    expect((await Promise.all(ran)).map(({ status }) => status)).toEqual(ran.map(() => 'done'));
  });

  it('is told of a stop at once', async () => {
    const socket = await connect();
    const ran = run();
    const { work_id } = await socket.told('exec');
    const stoppedAt = performance.now();
    await t.get(CommandsRepository).cancel(work_id, 'The chat was stopped.');
    expect(await socket.told('cancel')).toMatchObject({ work_id });
    expect(performance.now() - stoppedAt).toBeLessThan(2_000);
    socket.say(exit(work_id, null));
    expect(await ran).toMatchObject({ status: 'cancelled', exit_code: null });
  });

  it.each([
    ['here', () => t.url],
    ['elsewhere', () => elsewhere],
  ])('is taken over by the next one, %s', async (_, url) => {
    const first = await connect();
    const second = await connect(undefined, url());
    expect(await first.bye()).toBe('taken_over');
    expect(await isConnected()).toBe(true);
    const pinged = at('POST', '/ping');
    second.say(exit((await second.told('exec')).work_id));
    expect((await pinged).body).toMatchObject({ ok: true });
  });

  it('lives on when its token is replaced', async () => {
    const unknown = await kept(MachineSocket.open(t.url, machine.token));
    const socket = await connect(undefined, elsewhere);
    await at('POST', '/rotate-token');
    expect(await MachineSocket.refused(t.url, machine.token)).toMatchObject({ status: 401 });
    unknown.say({ type: 'hello', ...HELLO });
    expect(await unknown.bye()).toBe('token_replaced');
    const pinged = at('POST', '/ping');
    socket.say(exit((await socket.told('exec')).work_id));
    expect((await pinged).body).toMatchObject({ ok: true });
  });

  it('ends with its environment, and what runs there first', async () => {
    const socket = await connect();
    const ran = run();
    const { work_id } = await socket.told('exec');
    await at('DELETE');
    expect(await socket.told('cancel')).toMatchObject({ work_id });
    expect(await socket.bye()).toBe('deleted');
    expect(await ran).toMatchObject({ status: 'cancelled' });
  });

  it('ends with its organization, for whoever looks after all', async () => {
    const team = await t.team();
    const gone = await t.machine(team);
    const [idle, socket] = [await kept(MachineSocket.open(t.url, gone.token)), await kept(gone.connect(undefined, elsewhere))];
    await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [team.id]);
    expect(await socket.bye()).toBe('deleted');
    idle.say({ type: 'hello', ...HELLO });
    expect(await idle.bye()).toBe('token_replaced');
    expect(await MachineSocket.refused(t.url, gone.token)).toMatchObject({ status: 401 });
  });

  it('tells nothing of commands that its machine does not have', async () => {
    const socket = await connect();
    const ran = run();
    const { work_id } = await socket.told('exec');
    const other = await kept((await t.machine(org, 'Other')).connect([work_id]));
    expect(await other.told('cancel')).toMatchObject({ work_id });
    for (const frame of [output(work_id, 'lie'), exit(work_id, 1), { type: 'file', work_id, content_base64: 'bGll' }, exit(uuidv7())])
      other.say(frame);
    other.say({ type: 'bye' });
    expect(await other.bye()).toBe('goodbye');
    socket.say(exit(work_id));
    expect(await ran).toMatchObject({ exit_code: 0, stdout: '' });
  });

  it.each([
    ['no JSON', '{"type":'],
    ['nothing that is known', { type: 'wat' }],
    ['half of one', { type: 'exit', work_id: uuidv7() }],
    ['bytes', Buffer.from('{"type":"heartbeat"}')],
    ['another hello', { type: 'hello', ...HELLO }],
  ])('ends where a frame is %s', async (_, frame) => {
    const socket = await connect();
    socket.say(frame);
    expect(await socket.bye()).toBe('invalid_frame');
    await eventually(isConnected, (connected) => !connected);
  });

  it('is for machines alone, and keeps nobody from speaking plainly', async () => {
    const said = (headers: http.OutgoingHttpHeaders, path: string) =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        const asked = http.request(t.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
        asked.once('error', reject).once('response', (response) => {
          void buffer(response).then((body) => resolve([response.statusCode, body.toString()]));
        });
        asked.end('{"email":"nobody@example.com","password":"x"}');
      });
    const authorization = `Bearer ${machine.token}`;
    const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA', authorization };
    expect(await said(h2c, '/api/daemon/work/result')).toEqual([422, expect.stringContaining('work_id')]);
    expect((await said({ connection: 'Upgrade', upgrade: 'websocket' }, '/api/orgs'))[0]).toBe(404);
  });

  it('leaves the body of a stranger unread', async () => {
    const headers = { authorization: `Bearer aed_${'x'.repeat(43)}`, 'content-type': 'application/json', 'content-length': '4000000' };
    const asked = http.request(`${t.url}/api/daemon/work/result`, { method: 'POST', headers });
    asked.flushHeaders();
    const [answer] = (await once(asked, 'response')) as [http.IncomingMessage];
    expect([answer.statusCode, String(await buffer(answer))]).toEqual([401, expect.stringContaining('not_authenticated')]);
    asked.destroy();
  });

  it('ends where a frame is too long, and where the first is no hello', async () => {
    const socket = await connect();
    socket.say(output(uuidv7(), 'x'.repeat(1024 * 1024)));
    await socket.closed();
    await eventually(isConnected, (connected) => !connected);
    const rude = await kept(MachineSocket.open(t.url, machine.token));
    rude.say({ type: 'heartbeat' });
    expect(await rude.bye()).toBe('hello_expected');
    expect(await isConnected()).toBe(false);
  });

  it('ends where nothing is said any more, or never was', async () => {
    const { patience } = t.get(MachineSockets);
    const before = { ...patience };
    try {
      Object.assign(patience, { helloMs: 50, silentMs: 50 });
      expect(await (await kept(MachineSocket.open(t.url, machine.token))).bye()).toBe('hello_expected');
      patience.helloMs = before.helloMs;
      expect(await (await connect()).bye()).toBe('silent');
    } finally {
      Object.assign(patience, before);
    }
    await eventually(isConnected, (connected) => !connected);
  });

  it('goes on with what its machine is still at, and with nothing else', async () => {
    const first = await connect();
    const begun = async () => ({ end: run(), work: (await first.told('exec')).work_id });
    const [{ end: ran, ...one }, { end: stopped, ...two }, { end: lost, ...three }] = [await begun(), await begun(), await begun()];
    const works = [one.work, two.work, three.work];
    first.say(output(works[0], 'early'));
    first.cut();
    await eventually(isConnected, (connected) => !connected);
    await t.get(CommandsRepository).cancel(works[1], 'The chat was stopped.');
    const second = await connect(works.slice(0, 2), elsewhere);
    expect(await second.told('cancel')).toMatchObject({ work_id: works[1] });
    second.say(output(works[0], 'late'));
    for (const work of works) second.say(exit(work));
    expect(await ran).toMatchObject({ status: 'done', exit_code: 0, truncated: true, stdout: expect.stringMatching(/late$/) });
    expect(await stopped).toMatchObject({ status: 'cancelled' });
    expect(await rowOf(works[2])).toMatchObject({ status: 'running' });
    await t.db.manager.update(EnvironmentCommand, { id: works[2] }, { heartbeat_at: new Date(Date.now() - 46_000) });
    await t.get(Maintenance).runAll();
    expect(await lost).toMatchObject({ status: 'outcome_unknown' });
  });

  it('goes on with it among all that its machine has done within a minute', async () => {
    const first = await connect();
    const ran = run();
    const { work_id } = await first.told('exec');
    first.cut();
    const done = Array.from({ length: 150 }, () => uuidv7());
    const second = await connect([work_id, ...done]);
    await eventually(
      async () => second.frames.filter(({ type }) => type === 'cancel').map((frame) => frame.work_id),
      (cancelled) => cancelled.length === done.length && !cancelled.includes(work_id),
    );
    second.say(exit(work_id));
    expect(await ran).toMatchObject({ status: 'done', exit_code: 0 });
  });

  it('is opened as often as requests are made, and tells of itself no more often', async () => {
    t.configure({ RATE_LIMITS: 'on', RATE_LIMIT_TOKEN: '1', RATE_LIMIT_TOKEN_BURST: '2', REDIS_PREFIX: `sockets${uuidv7()}` });
    try {
      for (let i = 0; i < 2; i++) await (await connect()).end();
      expect(await MachineSocket.refused(t.url, machine.token)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    } finally {
      t.configure({ RATE_LIMITS: 'off' });
    }
  });

  it('has a place, whatever machines of another organization have', async () => {
    const { places } = t.get(MachineSockets);
    const { most } = places;
    const others = await t.team();
    const [one, two, three] = [await t.machine(org), await t.machine(org), await t.machine(others)];
    places.most = 5;
    try {
      await kept(one.connect());
      expect(await MachineSocket.refused(t.url, two.token)).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      await kept(three.connect());
      // Who comes back takes the place that he has.
      await kept(one.connect());
    } finally {
      places.most = most;
    }
  });

  it('goes on by requests with what it has taken, where sockets are refused meanwhile', async () => {
    const first = await connect();
    const ran = run();
    const { work_id } = await first.told('exec');
    first.cut();
    const second = await connect([work_id]);
    second.cut();
    const expected_last_heartbeat = (await rowOf(work_id)).heartbeat_at!.toISOString();
    expect((await machine.ask('heartbeat', { work_id, expected_last_heartbeat })).body).toMatchObject({ cancel: false });
    await machine.ask('result', { work_id, exit_code: 0, stdout: 'by\0 requests' });
    expect(await ran).toMatchObject({ status: 'done', stdout: 'by requests' });
  });

  it('waits for work by few requests at a time, the newest', async () => {
    const claims = Array.from({ length: 5 }, () => machine.ask('claim', { hello: HELLO, wait_s: 25 }));
    expect((await Promise.race(claims)).body).toMatchObject({ work: null });
    for (let i = 0; i < 4; i++) {
      const ran = run();
      const { work_id } = await eventually(
        async () => ({
          work_id: (await t.db.manager.findOneBy(EnvironmentCommand, { environment_id: machine.id, status: 'running' }))?.id,
        }),
        (found) => found.work_id !== undefined,
      );
      await machine.ask('result', { work_id, exit_code: 0 });
      expect(await ran).toMatchObject({ status: 'done' });
    }
    expect((await Promise.all(claims)).filter(({ body }) => body.work === null)).toHaveLength(1);
  });

  it('has no way in by a token that was replaced and is at nothing', async () => {
    await machine.ask('claim', { hello: HELLO });
    const ran = run();
    const claimed = await machine.ask('claim', { hello: HELLO, wait_s: 25 });
    await at('POST', '/rotate-token');
    const beat = { work_id: claimed.body.work.id, expected_last_heartbeat: claimed.body.last_heartbeat };
    expect((await machine.ask('heartbeat', beat)).status).toBe(200);
    expect((await machine.ask('result', { work_id: beat.work_id, exit_code: 0 })).body).toEqual({ accepted: true });
    expect(await ran).toMatchObject({ status: 'done' });
    await t.db.execute(sql(`UPDATE environment_commands SET finished_at = now() - interval '2 hours' WHERE id = $1`), [beat.work_id]);
    expect((await machine.ask('result', { work_id: beat.work_id, exit_code: 0 })).status).toBe(401);
  });

  it('says goodbye for the commands, too', async () => {
    const socket = await connect();
    const ran = run();
    await socket.told('exec');
    socket.say({ type: 'bye' });
    expect(await ran).toMatchObject({ status: 'outcome_unknown', error: 'The daemon of the machine was ended.' });
    expect(await socket.bye()).toBe('goodbye');
  });
});

it('sends machines elsewhere when its process ends, and keeps them connected', async () => {
  const other = new EnvironmentsService();
  await other.start();
  const team = await other.team();
  const own = await other.machine(team);
  const socket = await kept(own.connect());
  const closed = other.get(MachineSockets).beforeApplicationShutdown();
  expect(await socket.bye()).toBe('restarting');
  await closed;
  expect((await other.call('GET', `${team.path}/environments/${own.id}`, { as: team.member })).body.connected).toBe(true);
  expect(await MachineSocket.refused(other.url, own.token)).toMatchObject({ status: 503 });
  await other.close();
});
