import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { Environment } from '@aps/entities';
import { entitle } from '@aps/billing/testing';
import { anApiToken } from '@aps/identity/testing';
import type { TestTeam } from '@aps/orgs/testing';
import { Maintenance } from '@aps/platform/maintenance';
import { eventually, sql, type Bearer } from '@aps/platform/testing';
import { CommandsRepository } from '../commands/commands.repository';
import { Commands } from '../commands/commands.service';
import { EnvironmentsService, NOT_ISOLATED, type TestMachine } from '../testing';

const t = new EnvironmentsService({ ...NOT_ISOLATED, CONCURRENCY_ENVIRONMENTS: '8' });
let org: TestTeam;
beforeAll(() => t.start());
afterAll(() => t.close());
beforeEach(async () => {
  await entitle(t, { max_custom_environments: 2, max_custom_image_gb: 1 });
  org = await t.team();
});

const make = (body: object, as = org.member) => t.call('POST', `${org.path}/environments`, { as, body });
const at = (method: string, id: string, below = '', body?: object, as: Bearer = org.owner) =>
  t.call(method, `${org.path}/environments/${id}${below}`, { as, body });
const get = async (id: string) => (await at('GET', id)).body;
const actions = async () =>
  (await t.audit({ org_id: org.id })).map(({ action }) => action).filter((action) => action.startsWith('environment.'));

describe('environments', () => {
  it('are one built-in sandbox, machines and images', async () => {
    const machine = await t.machine(org);
    // What runs sandboxes has said so.
    await eventually(
      () => t.db.query(sql('SELECT 1 FROM sandbox_hosts')),
      (hosts) => hosts.length > 0,
    );
    const { status, body } = await make({ kind: 'BUILTIN_SANDBOX', name: 'Mine' });
    expect([status, body]).toEqual([
      201,
      {
        environment: {
          ...{ id: expect.any(String), kind: 'BUILTIN_SANDBOX', name: 'Built-in sandbox', image_ref: null, image_digest: null },
          ...{
            status: 'online',
            connected: true,
            isolation: 'none',
            last_seen_at: null,
            validation: null,
            has_token: false,
            is_builtin: true,
          },
          ...{ exec_timeout_s: 120, exec_timeout_requested_s: null, exec_timeout_bounds: { min: 5, max: 3600 } },
          ...{ created_at: expect.any(String), updated_at: expect.any(String) },
        },
        ...{ daemon_token: null, install_command: null },
      },
    ]);
    expect((await make({ kind: 'BUILTIN_SANDBOX' })).body.code).toBe('sandbox_exists');
    expect(await get(machine.id)).toMatchObject({ status: 'pending', connected: false, exec_timeout_s: 600, has_token: true });
    const listed = (await t.call('GET', `${org.path}/environments`, { as: org.member })).body;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([body.environment.id, machine.id]);
  });

  it('need what their kind needs', async () => {
    for (const body of [
      { kind: 'REMOTE_MACHINE' },
      { kind: 'REMOTE_MACHINE', name: ' ' },
      { kind: 'CUSTOM_IMAGE' },
      { kind: 'CUSTOM_IMAGE', image_ref: 'UPPER/case' },
      { kind: 'CUSTOM_IMAGE', image_ref: 'evil.example/image' },
      { kind: 'OTHER' },
    ])
      expect([body, (await make(body)).status]).toEqual([body, 422]);
  });

  it('are custom images up to what the plan allows, which are looked at', async () => {
    const made = (await make({ kind: 'CUSTOM_IMAGE', image_ref: 'docker.io/library/debian:12' })).body.environment;
    expect(made).toMatchObject({ status: 'validating', name: 'docker.io/library/debian:12', connected: false, exec_timeout_s: 300 });
    expect((await make({ kind: 'CUSTOM_IMAGE', image_ref: 'debian', name: 'Mine' })).body.environment).toMatchObject({
      ...{ name: 'Mine', image_ref: 'docker.io/library/debian' },
    });
    expect((await make({ kind: 'CUSTOM_IMAGE', image_ref: 'debian' })).body).toMatchObject({
      code: 'entitlement_exceeded',
      context: { entitlement: 'max_custom_environments', limit: 2, current: 2 },
    });
    // No registry is to be reached from here.
    const invalid = await eventually(
      () => get(made.id),
      ({ status }) => status !== 'validating',
    );
    expect(invalid).toMatchObject({ status: 'invalid', image_digest: null });
    expect(invalid.validation.checks.at(-1)).toMatchObject({ ok: false });
    expect((await at('POST', made.id, '/validate', undefined, org.member)).body.status).toBe('validating');
    expect((await at('POST', (await t.machine(org)).id, '/validate')).status).toBe(422);
  });

  it('have a ceiling within bounds', async () => {
    const id = await t.sandbox(org);
    for (const [asked, holds] of [
      [900, 900],
      [0, 5],
      [-7, 5],
      [9_007_199_254_740_991, 3600],
    ])
      expect((await at('PATCH', id, '', { exec_timeout_s: asked })).body).toMatchObject({
        ...{ exec_timeout_s: holds, exec_timeout_requested_s: asked },
      });
    const unset = { exec_timeout_s: 120, exec_timeout_requested_s: null };
    expect((await at('PATCH', id, '', { exec_timeout_s: null })).body).toMatchObject(unset);
    await at('PATCH', id, '', { exec_timeout_s: 60 });
    expect((await at('PATCH', id, '', { exec_timeout_reset: true })).body).toMatchObject(unset);
    for (const body of [
      { exec_timeout_s: 60, exec_timeout_reset: true },
      { exec_timeout_s: 1.5 },
      { exec_timeout_s: '60' },
      { name: 'Mine' },
      { image_ref: 'debian' },
    ])
      expect([body, (await at('PATCH', id, '', body)).status]).toEqual([body, 422]);
    expect((await at('PATCH', id, '', {})).status).toBe(200);
    expect((await at('PATCH', id, '', {}, org.member)).status).toBe(403);
    expect((await at('PATCH', (await t.machine(org)).id, '', { name: 'Other' })).body.name).toBe('Other');
  });

  it('show their token to administrators, on record each time', async () => {
    const machine = await t.machine(org);
    expect((await at('POST', machine.id, '/reveal-token', undefined, org.member)).status).toBe(403);
    const revealed = await at('POST', machine.id, '/reveal-token');
    expect(revealed.body).toEqual({
      ...{ environment_id: machine.id, daemon_token: machine.token },
      install_command: expect.stringContaining(machine.token),
    });
    expect(revealed.headers.get('cache-control')).toContain('no-store');
    await at('POST', machine.id, '/reveal-token');
    const rotated = (await at('POST', machine.id, '/rotate-token')).body;
    expect(rotated.daemon_token).toMatch(/^aed_.{43}$/);
    expect(rotated.daemon_token).not.toBe(machine.token);
    expect(await actions()).toEqual([
      ...['environment.created', 'environment.token_revealed', 'environment.token_revealed', 'environment.token_rotated'],
    ]);
    expect(JSON.stringify(await t.audit({ org_id: org.id }))).not.toContain('aed_');
    await t.db.execute(sql('UPDATE environments SET token = NULL WHERE id = $1'), [machine.id]);
    expect((await at('POST', machine.id, '/reveal-token')).body.code).toBe('token_not_stored');
    const id = await t.sandbox(org);
    for (const below of ['/reveal-token', '/rotate-token']) expect((await at('POST', id, below)).body.code).toBe('nothing_to_reveal');
    expect((await at('POST', randomUUID(), '/reveal-token')).status).toBe(404);
  });

  it('do not stay at a validation whose job was given up', async () => {
    const { id } = (await make({ kind: 'CUSTOM_IMAGE', image_ref: 'debian' })).body.environment;
    await t.db.execute(sql(`UPDATE environments SET image_state = 'validating', probe_id = $2 WHERE id = $1`), [id, randomUUID()]);
    await t.get(Maintenance).runAll();
    expect(await get(id)).toMatchObject({ status: 'invalid', validation: { checks: [{ name: 'probe', ok: false }] } });
  });

  it('answer a ping by running something, which is no activity', async () => {
    const id = await t.sandbox(org);
    expect((await at('POST', id, '/ping')).body).toEqual({
      ok: true,
      latency_ms: expect.any(Number),
      message: 'The environment answered.',
    });
    expect((await at('GET', id, '/activity')).body).toEqual({ items: [], total: 0, next_offset: null });
    const kept = async () => (await t.db.query(sql('SELECT FROM environment_commands WHERE environment_id = $1'), [id])).length;
    await t.get(Maintenance).runAll();
    expect(await kept()).toBe(1);
    await t.db.execute(sql(`UPDATE environment_commands SET finished_at = now() - interval '1 hour' WHERE environment_id = $1`), [id]);
    await t.get(Maintenance).runAll();
    expect(await kept()).toBe(0);
    const machine = await t.machine(org);
    expect((await at('POST', machine.id, '/ping')).body).toMatchObject({ ok: false, latency_ms: null });
  });

  it('say what a command came to, though the database fails just as it ends', async () => {
    const id = await t.sandbox(org);
    const failing = jest
      .spyOn(t.get(CommandsRepository), 'finish')
      .mockRejectedValueOnce(Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }));
    expect((await at('POST', id, '/ping')).body).toMatchObject({ ok: true });
    expect(failing).toHaveBeenCalledTimes(2);
    failing.mockRestore();
  });

  it('have no more of a process than their organization’s share, however much it has them do', async () => {
    const [id, busy] = [await t.sandbox(org), await t.team()];
    const environmentId = await t.sandbox(busy);
    const wanted = { kind: 'exec', command: 'sleep 60', workdir: '/workspace', path: null, content: null } as const;
    const sleeping = Array.from({ length: 9 }, (_, n) => {
      const owner = { orgId: busy.id, environmentId, callKey: `${environmentId}/${n}`, rootChatId: environmentId, of: null };
      return t.get(Commands).run(owner, wanted, new AbortController().signal);
    });
    await eventually(
      () => t.db.query(sql('SELECT FROM outbox WHERE last_error LIKE $1'), ['%its share%']),
      (waiting) => waiting.length === 5,
    );
    expect((await at('POST', id, '/ping')).body).toMatchObject({ ok: true });
    await t.make('DELETE', `${busy.path}/environments/${environmentId}`, { as: busy.owner });
    await Promise.allSettled(sleeping);
  });

  it('are pinged by who may only read them', async () => {
    const id = await t.sandbox(org);
    const reader = await anApiToken(t, org.member, { scope: 'environments:read' });
    expect((await at('POST', id, '/ping', undefined, reader)).body).toMatchObject({ ok: true });
    expect((await at('DELETE', id, '', undefined, reader)).body.code).toBe('insufficient_scope');
  });

  it('are gone with all that runs there', async () => {
    const machine = await t.machine(org);
    await machine.ask('claim');
    const ping = at('POST', machine.id, '/ping');
    const { work } = (await machine.ask('claim', { wait_s: 20 })).body;
    expect((await at('DELETE', machine.id, '', undefined, org.member)).status).toBe(204);
    expect((await ping).body).toMatchObject({ ok: false });
    expect((await machine.ask('claim')).status).toBe(401);
    expect((await machine.ask('heartbeat', { work_id: work.id, expected_last_heartbeat: 'x' })).body).toMatchObject({ cancel: true });
    expect((await machine.ask('result', { work_id: work.id, exit_code: 0 })).body).toEqual({ accepted: false });
    expect((await at('GET', machine.id)).status).toBe(404);
    expect((await at('GET', machine.id, '/usage')).status).toBe(404);
  });
});

describe('a machine', () => {
  let machine: TestMachine;
  beforeEach(async () => {
    machine = await t.machine(org);
  });
  const ping = () => at('POST', machine.id, '/ping', undefined, org.member);
  const claimed = async () => (await machine.ask('claim', { wait_s: 20 })).body;

  it('calls home, takes work and tells what it came to', async () => {
    const { body } = await machine.ask('claim');
    expect(body).toEqual({ environment_id: machine.id, work: null, last_heartbeat: expect.any(String), heartbeat_interval_s: 15 });
    expect(await get(machine.id)).toMatchObject({ status: 'online', connected: true, last_seen_at: body.last_heartbeat });
    const answered = ping();
    const { work, last_heartbeat } = await claimed();
    expect(work).toMatchObject({ kind: 'exec', command: 'true', workdir: '/workspace', path: null, content_base64: null });
    const beat = (await machine.ask('heartbeat', { work_id: work.id, expected_last_heartbeat: last_heartbeat })).body;
    expect(beat).toEqual({ last_heartbeat: expect.any(String), cancel: false });
    expect((await machine.ask('heartbeat', { work_id: work.id, expected_last_heartbeat: last_heartbeat })).body).toMatchObject({
      code: 'lease_moved',
      context: { last_heartbeat: beat.last_heartbeat },
    });
    expect((await machine.ask('result', { work_id: work.id, exit_code: 0 })).body).toEqual({ accepted: true });
    expect((await machine.ask('result', { work_id: work.id, exit_code: 1 })).body).toEqual({ accepted: false });
    expect((await answered).body).toMatchObject({ ok: true });
  });

  it('is known by its token alone', async () => {
    for (const token of ['aed_' + 'x'.repeat(43), 'nonsense', org.owner.token])
      expect((await machine.ask('claim', {}, token)).status).toBe(401);
    const other = await t.machine(org, 'Other');
    await machine.ask('claim');
    const answered = ping();
    const { work } = await claimed();
    expect((await other.ask('result', { work_id: work.id, exit_code: 0 })).status).toBe(404);
    expect((await other.ask('claim')).body.work).toBeNull();
    await machine.ask('result', { work_id: work.id, exit_code: 3 });
    expect((await answered).body).toMatchObject({ ok: false });
  });

  it('keeps its lease, until another one takes it', async () => {
    const { last_heartbeat } = (await machine.ask('claim')).body;
    const second = (await machine.ask('claim')).body;
    expect(await machine.ask('heartbeat', { expected_last_heartbeat: last_heartbeat })).toMatchObject({
      status: 412,
      body: { code: 'lease_moved', context: { last_heartbeat: second.last_heartbeat } },
    });
    expect((await machine.ask('heartbeat', { expected_last_heartbeat: second.last_heartbeat })).status).toBe(200);
  });

  it('goes on by an old token with what it has, and takes nothing new', async () => {
    await machine.ask('claim');
    const answered = ping();
    const { work, last_heartbeat } = await claimed();
    const fresh = (await at('POST', machine.id, '/rotate-token')).body.daemon_token;
    expect((await machine.ask('claim')).status).toBe(401);
    expect((await machine.ask('heartbeat', { expected_last_heartbeat: last_heartbeat })).status).toBe(401);
    expect((await machine.ask('heartbeat', { work_id: work.id, expected_last_heartbeat: last_heartbeat })).status).toBe(200);
    expect((await machine.ask('result', { work_id: work.id, exit_code: 0 })).body).toEqual({ accepted: true });
    expect((await answered).body.ok).toBe(true);
    expect((await machine.ask('claim', {}, fresh)).status).toBe(200);
  });

  it('finds room for what it says, whatever few others are sending', async () => {
    const size = 4 * 1024 * 1024;
    const senders = await Promise.all([await t.team(), await t.team()].map((team) => t.machine(team)));
    const open = await Promise.all(
      senders
        .flatMap(({ token }) => Array.from({ length: 8 }, () => token))
        .map(async (token) => {
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': size };
          const request = http.request(`${t.url}/api/daemon/work/result`, { agent: false, method: 'POST', headers });
          await new Promise((resolve) =>
            request
              .on('error', resolve)
              .on('response', resolve)
              .write(Buffer.alloc(size - 1), resolve),
          );
          return request;
        }),
    );
    for (let i = 0; i < 20; i++) expect((await machine.ask('claim')).status).toBe(200);
    open.forEach((request) => request.destroy());
  });

  it('is nobody’s any more once its organization is deleted', async () => {
    await machine.ask('claim');
    const answered = ping();
    const { work, last_heartbeat } = await claimed();
    const idle = await t.machine(org, 'Other');
    const lease = (await idle.ask('claim')).body.last_heartbeat;
    const waiting = idle.ask('claim', { wait_s: 20 });
    await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [org.id]);
    expect([
      (await idle.ask('claim')).status,
      (await idle.ask('heartbeat', { expected_last_heartbeat: lease })).status,
      (await machine.ask('heartbeat', { work_id: work.id, expected_last_heartbeat: last_heartbeat })).status,
      (await machine.ask('result', { work_id: work.id, exit_code: 0 })).status,
      (await waiting).status,
    ]).toEqual([401, 401, 401, 401, 401]);
    await t.db.execute(sql('UPDATE organizations SET deleted_at = NULL WHERE id = $1'), [org.id]);
    expect((await machine.ask('result', { work_id: work.id, exit_code: 0 })).body).toEqual({ accepted: true });
    expect((await answered).body.ok).toBe(true);
  });

  it('is offline when it was not heard of, and what it had is lost', async () => {
    await machine.ask('claim');
    const answered = ping();
    const { work } = await claimed();
    await t.db.execute(sql(`UPDATE environments SET connected_until = now() - interval '1 s' WHERE id = $1`), [machine.id]);
    await t.db.execute(sql(`UPDATE environment_commands SET heartbeat_at = now() - interval '46 s' WHERE id = $1`), [work.id]);
    await t.get(Maintenance).runAll();
    expect(await get(machine.id)).toMatchObject({ status: 'offline', connected: false });
    expect((await answered).body).toMatchObject({ ok: false, message: 'What ran it was lost.' });
    expect((await machine.ask('result', { work_id: work.id, exit_code: 0 })).body).toEqual({ accepted: false });
    const told = await t.db.query(sql<{ data: object }>(`SELECT data FROM events WHERE topic = 'env:' || $1 ORDER BY seq`), [machine.id]);
    expect(told.map(({ data }) => data)).toMatchObject([
      { status: 'pending' },
      { status: 'online', connected: true },
      { status: 'offline', connected: false },
    ]);
  });
});

it('are kept with their tokens sealed', async () => {
  const machine = await t.machine(org);
  const row = await t.db.manager.findOneBy(Environment, { id: machine.id });
  expect(JSON.stringify(row)).not.toContain(machine.token.slice(4));
});
