import type { Dialect } from '@aps/inference';
import { sql } from '@aps/platform/testing';
import { chatsService, script, type TestOrg } from '../testing/chats';

/** A provider that keeps a stream alive and does not come to an end. */
describe('a model call that lasts too long', () => {
  const app = chatsService({ MODEL_CALL_MAX_S: '3' });
  let org: TestOrg;

  beforeAll(async () => {
    for (const dialect of ['dialect_1', 'dialect_2', 'dialect_3'] as const) await app.addDialect(dialect);
    org = await app.org();
  });

  const drip = { text: 'word '.repeat(2_000), chunk_delay_ms: 100 };
  it.each<[Dialect, string, object]>([
    ['dialect_1', 'drips', drip],
    ['dialect_2', 'drips', drip],
    ['dialect_3', 'drips', drip],
    ['dialect_2', 'falls silent but for pings', { text: 'half', ping_ms: 50 }],
  ])('fails its turn as provider_timeout when %s %s, under the lease that it began with', async (model, _, step) => {
    const chat = await app.chat(org);
    const sent = await app.call('POST', `${org.path}/${chat}/messages`, {
      as: org.owner,
      body: { content: script(step as Record<string, unknown>), model },
    });
    expect(sent.status).toBe(202);
    const body = await app.until(org, chat, (c) => c.status === 'ERRORED');
    expect(body.error).toMatchObject({ code: 'provider_timeout', retryable: true });
    // The second try has told the readers to forget the first; nobody else has owned the turn.
    expect(
      await app.db.query(
        sql(`SELECT type FROM events WHERE topic = 'chat:' || $1::text AND type IN ('message_restarted', 'message_completed')`),
        [chat],
      ),
    ).toEqual([{ type: 'message_restarted' }]);
    expect(await app.db.query(sql('SELECT deliveries FROM turns WHERE chat_id = $1'), [chat])).toEqual([{ deliveries: 1 }]);
    const diagnosis = (await app.call('GET', `${org.path}/${chat}/diagnosis`, { as: org.owner })).body;
    expect(diagnosis.last_turn).toEqual({ turn_id: sent.body.turn_id, finish_reason: null, error: body.error });
    expect(diagnosis.next_action).toBe('continue');
  });
});
