import { eventually, sql } from '@aps/platform/testing';
import { Commands } from '../commands/commands.service';
import { EnvironmentsService } from '../testing';

/** A cluster that nobody finds. */
const t = new EnvironmentsService({ SANDBOX_DRIVER: 'kubernetes', SANDBOX_K8S_API: 'http://127.0.0.1:1' });
beforeAll(() => t.start());
afterAll(() => t.close());

it('a process where nothing isolates leaves commands to others, and refuses them where there are none', async () => {
  const org = await t.team();
  await t.db.execute(sql(`INSERT INTO sandbox_hosts (id, isolation, seen_at) VALUES ('another', 'pod', now())`));
  const environmentId = await t.sandbox(org);
  const owner = { orgId: org.id, environmentId, callKey: 'call', rootChatId: environmentId, of: null };
  const wanted = { kind: 'exec', command: 'true', workdir: '/workspace', path: null, content: null } as const;
  const run = t.get(Commands).run(owner, wanted, new AbortController().signal);
  await eventually(
    () => t.db.query(sql<{ last_error: string | null }>(`SELECT last_error FROM outbox WHERE job = 'environment.command'`)),
    ([job]) => !!job?.last_error?.includes('elsewhere something does'),
  );
  expect(await t.db.query(sql('SELECT status FROM environment_commands'))).toEqual([{ status: 'queued' }]);
  await t.db.execute(sql(`DELETE FROM sandbox_hosts WHERE id = 'another'`));
  expect(await run).toMatchObject({ status: 'done', exit_code: null, error: expect.stringContaining('Nothing isolates commands here.') });
});
