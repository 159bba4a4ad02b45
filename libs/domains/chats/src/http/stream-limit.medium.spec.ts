import { loadConfig } from '@aps/platform/config';
import { chatsService, type TestOrg } from '../testing/chats';

describe('open streams of a user', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org();
    loadConfig({ ...process.env, RATE_LIMITS: 'on', RATE_LIMIT_SSE_PER_USER: '2' });
  });

  /** A place is free a moment after its stream has ended. */
  const opened = async (chat: string, wanted: number): Promise<void> => {
    for (;;) {
      const { status } = await app.stream(org, chat);
      if (status === wanted) return;
      expect(status).toBe(429);
      await new Promise((r) => setTimeout(r, 50));
    }
  };

  it('are bounded; one that is refused or closed does not count', async () => {
    const chat = await app.chat(org);
    const first = await app.stream(org, chat);
    // There is no such chat: that stream never was.
    for (let i = 0; i < 3; i++) await opened('b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0001', 404);
    expect(first.status).toBe(200);
    await opened(chat, 200);
    const third = await app.stream(org, chat);
    expect([third.status, third.response.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await third.response.json()).toMatchObject({ code: 'rate_limited' });
    // Not this one, but not for the number of its streams.
    expect((await app.stream(org, chat, { as: org.member })).status).toBe(404);
    first.close();
    await opened(chat, 200);
  });
});
