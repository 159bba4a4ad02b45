import { eventually, sql } from '@aps/platform/testing';
import { metrics } from '@aps/platform/observability';
import type { TestOrg } from '@aps/chats/testing';
import { inboxesService, type TestInbox } from '../testing';

const t = inboxesService();
const quarantine = (inbox: TestInbox) => t.rules(inbox, { default: { action: 'quarantine' } });
const valueOf = async (name: string, reason: string) =>
  (await metrics.getSingleMetric(name)!.get()).values.find(({ labels }) => labels.reason === reason)?.value;

it('what is held is told by reason, of all inboxes, as long as it can be let go', async () => {
  const org: TestOrg = await t.org();
  const [one, other, deleted] = [await t.inbox(org), await t.inbox(org), await t.inbox(org)];
  const held: string[] = [];
  for (const inbox of [one, one, other, deleted]) {
    await quarantine(inbox);
    held.push(await t.mail(inbox));
    expect((await t.evaluated(held.at(-1)!)).state).toBe('held');
  }
  await t.call('PATCH', other.path, { as: org.owner, body: { status: 'paused' } });
  held.push(await t.mail(other));
  expect((await t.evaluated(held.at(-1)!)).state).toBe('held');
  await t.call('DELETE', deleted.path, { as: org.owner });
  const older = (id: string, interval: string) =>
    t.db.execute(sql('UPDATE inbox_messages SET received_at = received_at - $2::interval WHERE id = $1'), [id, interval]);
  await older(held[0], '2 hours');
  // Its content is gone: nobody can let it go any more.
  await older(held[1], '31 days');

  const told = await eventually(
    async () => ({
      quarantined: await valueOf('inbox_held_messages', 'quarantined'),
      paused: await valueOf('inbox_held_messages', 'inbox_paused'),
      oldest: await valueOf('inbox_oldest_held_seconds', 'quarantined'),
      other: await valueOf('inbox_held_messages', 'spike'),
    }),
    // What was asked before is told for five seconds.
    ({ quarantined, paused }) => quarantined === 2 && paused === 1,
  );
  expect(told).toEqual({ quarantined: 2, paused: 1, oldest: expect.closeTo(7_200, -2), other: undefined });
});
