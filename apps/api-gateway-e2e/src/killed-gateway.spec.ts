import { NO_CALLER } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPlatform, until, type Platform } from '../support';

/** Two gateways, one of which dies in the middle of a request; the client asks the other one again. */
describe('a request with an Idempotency-Key whose gateway is killed', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ apps: ['api-gateway', 'api-gateway:2'] });
  });
  afterAll(() => platform?.stop());

  it('is handled by the repeat, at the time that the client was told', async () => {
    const { org_id, agent_id, api_token } = platform.demo;
    const chats = `/api/orgs/${org_id}/agents/${agent_id}/chats`;
    const headers = { Authorization: `Bearer ${api_token}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'careful' };
    const chat = (await (
      await fetch(platform.url + chats, { method: 'POST', headers: { ...headers, 'Idempotency-Key': 'chat' }, body: '{}' })
    ).json()) as { id: string };
    const send = (url: string) =>
      fetch(`${url}${chats}/${chat.id}/messages`, { method: 'POST', headers, body: JSON.stringify({ content: 'Do not lose me' }) });

    await platform.database((db) =>
      db.transaction(NO_CALLER, async (tx) => {
        await tx.query(sql('SELECT 1 FROM chats WHERE id = $1 FOR UPDATE'), [chat.id]);
        const lost = send(platform.app('api-gateway:2').url).catch(() => 'lost');
        await until(
          'the key is taken',
          async () => (await db.query(sql(`SELECT 1 FROM idempotency_keys WHERE key = 'careful'`))).length > 0,
        );
        await platform.kill('api-gateway:2');
        expect(await lost).toBe('lost');
      }),
    );

    const refused = await send(platform.url);
    const wait = Number(refused.headers.get('retry-after'));
    expect([refused.status, wait > 1, wait <= 10]).toEqual([409, true, true]);
    await sleep(wait * 1_000);
    expect((await send(platform.url)).status).toBe(202);
    const stored = await platform.database((db) => db.query(sql(`SELECT 1 FROM messages WHERE chat_id = $1`), [chat.id]));
    expect(stored).toHaveLength(1);
  });
});
