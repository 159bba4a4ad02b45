import { NO_CALLER } from '@aps/platform/database';
import { eventually, sql } from '@aps/platform/testing';
import { CommandsRepository } from '../commands/commands.repository';
import { Commands } from '../commands/commands.service';
import { EnvironmentsService } from '../testing';

/** A cluster that nobody finds. */
const t = new EnvironmentsService({ SANDBOX_DRIVER: 'kubernetes', SANDBOX_K8S_API: 'http://127.0.0.1:1' });
beforeAll(() => t.start());
afterAll(() => t.close());

/** Runs a command in a sandbox of its own, while something isolates elsewhere. */
async function running() {
  await t.db.execute(sql(`INSERT INTO sandbox_hosts (id, isolation, seen_at) VALUES ('another', 'pod', now())`));
  const org = await t.team();
  const environmentId = await t.sandbox(org);
  const owner = { orgId: org.id, environmentId, callKey: environmentId, rootChatId: environmentId, of: null };
  const wanted = { kind: 'exec', command: 'true', workdir: '/workspace', path: null, content: null } as const;
  return { org, environmentId, run: t.get(Commands).run(owner, wanted, new AbortController().signal) };
}
const anotherIsGone = () => t.db.execute(sql(`DELETE FROM sandbox_hosts WHERE id = 'another'`));
const putOff = (job: string, why: string) =>
  eventually(
    () => t.db.query(sql<{ last_error: string | null }>(`SELECT last_error FROM outbox WHERE job = $1`), [job]),
    ([row]) => !!row?.last_error?.includes(why),
  );

it('a process where nothing isolates leaves commands to others, and refuses them where there are none', async () => {
  const { run } = await running();
  await putOff('environment.command', 'elsewhere something does');
  expect(await t.db.query(sql('SELECT status FROM environment_commands'))).toEqual([{ status: 'queued' }]);
  await anotherIsGone();
  expect(await run).toMatchObject({ status: 'done', exit_code: null, error: expect.stringContaining('Nothing isolates commands here.') });
});

it('what is left of a deleted environment waits for a process that can remove it', async () => {
  const { org, environmentId, run } = await running();
  const cancelled = expect(run).rejects.toThrow('The environment was deleted.');
  await putOff('environment.command', 'elsewhere something does');
  await t.make('DELETE', `${org.path}/environments/${environmentId}`, { as: org.owner });
  await cancelled;
  await putOff('environment.remove', 'elsewhere something does');
  await anotherIsGone();
  await putOff('environment.remove', 'nothing that removes workspaces');
});

it('an organization has eight commands running in sandboxes at most, also where two are taken in the same moment', async () => {
  const org = await t.team();
  const environmentId = await t.sandbox(org);
  const made = sql<{ id: string; status: string }>(`
    INSERT INTO environment_commands (id, org_id, environment_id, call_key, workspace, kind, command, workdir, timeout_s, status, heartbeat_at)
    SELECT gen_random_uuid(), $1, $2::uuid, $2::uuid || '/' || n, $2::uuid, 'exec', 'true', '/workspace', 60, CASE WHEN n > 7 THEN 'queued' ELSE 'running' END, now()
    FROM generate_series(1, 9) n RETURNING id, status`);
  const waiting = (await t.db.query(made, [org.id, environmentId])).filter(({ status }) => status === 'queued');
  const claims = await t.db.transaction(NO_CALLER, async (tx) => {
    await tx.execute(sql(`SELECT FROM environment_commands WHERE org_id = $1 AND status = 'queued' FOR UPDATE`), [org.id]);
    const both = waiting.map(({ id }) => t.get(CommandsRepository).claim(org.id, id));
    await eventually(
      () =>
        t.db.query(
          sql(
            'SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database OR l.database IS NULL WHERE NOT l.granted AND d.datname = current_database()',
          ),
        ),
      ({ length }) => length >= 2,
    );
    return both;
  });
  expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
});
