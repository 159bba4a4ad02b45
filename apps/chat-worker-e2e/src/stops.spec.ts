import { script, startPlatform, until, type Platform } from '../../api-gateway-e2e/support';
import { check } from './invariants';

const WORDS = 'one two three four five six seven eight nine ten';

describe('stops', () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform?.stop());

  it('keep what was said once or not at all, also when the worker is killed meanwhile', async () => {
    const path = `/api/orgs/${platform.demo.org_id}/agents/${platform.demo.agent_id}/chats`;
    const chats = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const chat = await platform.openChat();
        const stream = await platform.stream(chat);
        await platform.say(chat, script({ text: WORDS, chunk_delay_ms: 200 }));
        await stream.until((f) => f.event === 'message_delta');
        stream.close();
        return chat;
      }),
    );
    // Some of what they said is kept before the worker dies, some is not.
    let stopped = 0;
    const stops = chats.map(async (chat) => {
      const { status, body } = await platform.call('POST', `${path}/${chat}/stop`, { body: {} });
      expect([status, body.stopped]).toEqual([200, true]);
      stopped++;
    });
    await until('some are stopped', () => stopped > 4);
    await platform.kill('chat-worker');
    await Promise.all(stops);
    await platform.restart('chat-worker');
    await Promise.all(
      chats.map(async (chat) => {
        await platform.say(chat, 'still there?');
        const { body } = await until('the next message is answered', async () => {
          const answer = await platform.call('GET', `${path}/${chat}`);
          return answer.body.status === 'ACTIVE' && answer.body.messages.at(-1).content === 'You said: still there?' && answer;
        });
        const middle = body.messages.slice(1, -2) as { content: string; interrupted: boolean; usage: unknown }[];
        expect(middle.length).toBeLessThanOrEqual(1);
        for (const said of middle) {
          expect(said).toMatchObject({ interrupted: true, usage: null });
          expect(WORDS.startsWith(said.content.trim())).toBe(true);
        }
      }),
    );
    await check(platform);
  });
});
