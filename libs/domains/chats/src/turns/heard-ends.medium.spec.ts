import { OrgScope } from '@aps/guards';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { eventually } from '@aps/testing';
import { defineTool, ToolCatalog, type ChatOrigin } from '@aps/tools';
import { z } from 'zod';
import { ChatsQueries } from '../reading/chats.queries';
import { ChatStarts, type BegunTurn } from '../sending/chat-starts';
import { SendService } from '../sending/send.service';
import { ChatEnds, type ChatEnd, type EndListener } from '../state/chat-ends';
import { calls, chatsService, HELD, script, type TestOrg } from '../testing/chats';

interface Heard {
  chat: string;
  turn: string | null;
  how: ChatEnd;
  said: string | null;
}

describe('turns of chats that a domain above has begun', () => {
  const app = chatsService();
  const heard: Heard[] = [];
  let org: TestOrg;
  let scope: OrgScope;
  /** Fails the next that is heard, with all of its transaction. */
  let fails = false;

  /** Hears as an upper domain would: it reads what was said, in the transaction of the end. */
  const listener: EndListener = {
    origins: ['inbox'],
    hold: () => Promise.resolve(),
    async onChatEnded(tx, chat, how, turnId) {
      if (fails) {
        fails = false;
        throw new Error('the reply could not be written');
      }
      const said = turnId && (await app.get(ChatsQueries).answerOf(tx, scope, turnId));
      tx.afterCommit(() => void heard.push({ chat: chat.id, turn: turnId, how, said }));
    },
  };

  beforeAll(async () => {
    org = await app.org();
    scope = OrgScope.system(org.id, 'a message came');
    app.get(ChatEnds).register(listener);
    app.get(ToolCatalog).register(
      defineTool({
        slug: 'reply_to_sender',
        name: 'reply_to_sender',
        description: 'Replies',
        scope: 'core',
        accessLevel: 'write',
        availableTo: ({ origin }) => origin.kind === 'inbox',
        parameters: z.object({ text: z.string() }),
        run: (_tx, { text }, { origin }) => Promise.resolve({ kind: 'result', content: `${text} for ${origin.kind} ${origin.ref_id}` }),
      }),
    );
  });

  const inTx = <T>(fn: (tx: Tx) => Promise<T>): Promise<T> => app.db.transaction(NO_CALLER, fn);
  const begin = async (content: string, kind: ChatOrigin['kind'] = 'inbox'): Promise<BegunTurn> =>
    (await inTx((tx) =>
      app.get(ChatStarts).start(tx, scope, { agent_id: org.agentId, title: null, origin: { kind, ref_id: 'm1' }, message: { content } }),
    )) as BegunTurn;
  const ofChat = (chat: string, count: number) =>
    eventually(
      () => Promise.resolve(heard.filter((h) => h.chat === chat)),
      (ends) => ends.length >= count,
    );

  it('are heard of in their own transaction, each once, with what they said', async () => {
    const { chat_id: chat, turn_id: turn } = await begin(calls('todo_write', { todos: [] }));
    expect(await ofChat(chat, 1)).toEqual([{ chat, turn, how: 'done', said: 'done' }]);
    await app.send(org, chat, 'by a human');
    await app.settled(org, chat, 2);
    expect((await ofChat(chat, 2)).slice(1)).toEqual([{ chat, turn: expect.any(String), how: 'done', said: 'You said: by a human' }]);
  });

  it('are heard of one by one where they wait behind each other', async () => {
    const held = script({ text: 'first', delay_ms: HELD });
    const { chat_id: chat, turn_id: turn } = await begin(held);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    const next = (await inTx((tx) => app.get(SendService).join(tx, scope, org.agentId, chat, { content: 'more' }))) as BegunTurn;
    app.letGo(held);
    expect(await ofChat(chat, 2)).toEqual([
      { chat, turn, how: 'done', said: 'first' },
      { chat, turn: next.turn_id, how: 'done', said: 'You said: more' },
    ]);
  });

  it('do not end without who hears of it: the answer is given anew', async () => {
    fails = true;
    const { chat_id: chat, turn_id: turn } = await begin('hello');
    expect(await ofChat(chat, 1)).toEqual([{ chat, turn, how: 'done', said: 'You said: hello' }]);
    expect((await app.read(org, chat)).body.messages).toHaveLength(2);
  });

  it('are heard of as failed, stopped and closed, too', async () => {
    const failed = await begin(script({ error: { status: 400, message: 'no' } }));
    expect(await ofChat(failed.chat_id, 1)).toEqual([{ chat: failed.chat_id, turn: failed.turn_id, how: 'failed', said: null }]);
    const asking = calls('ask_human', { kind: 'question', prompt: 'Which?' });
    for (const [action, how] of [
      ['terminate', 'cancelled'],
      ['delete', 'deleted'],
    ] as const) {
      const { chat_id: chat, turn_id: turn } = await begin(asking);
      await app.until(org, chat, (c) => c.status === 'PAUSED');
      const [method, path] = action === 'delete' ? (['DELETE', ''] as const) : (['POST', '/terminate'] as const);
      await app.call(method, `${org.path}/${chat}${path}`, { as: org.owner });
      expect(await ofChat(chat, 1)).toEqual([{ chat, turn, how, said: null }]);
    }
    const timer = await begin(calls('wait_until', { for_s: 3600 }));
    await app.until(org, timer.chat_id, (c) => c.pause?.kind === 'timer');
    await app.call('POST', `${org.path}/${timer.chat_id}/stop`, { as: org.owner, body: {} });
    expect(await ofChat(timer.chat_id, 1)).toEqual([{ chat: timer.chat_id, turn: timer.turn_id, how: 'stopped', said: null }]);
  });

  it('are not heard of where others began the chat: their ends stay one statement', async () => {
    const mine = await app.chat(org);
    await app.send(org, mine, 'hello');
    const processes = await begin('hello', 'process');
    for (const chat of [mine, processes.chat_id]) await app.settled(org, chat, 1);
    const { chat_id: last } = await begin('hello');
    await ofChat(last, 1);
    expect(heard.filter(({ chat }) => chat === mine || chat === processes.chat_id)).toEqual([]);
  });

  it('have tools that no other chat has, and that know what began it', async () => {
    const reply = calls('reply_to_sender', { text: 'Thanks' });
    const results = async (chat: string) =>
      (await app.settled(org, chat, 1)).messages
        .filter((m: { role: string }) => m.role === 'tool')
        .map((m: { content: string }) => m.content);
    expect(await results((await begin(reply)).chat_id)).toEqual(['Thanks for inbox m1']);
    const mine = await app.chat(org);
    await app.send(org, mine, reply);
    expect(await results(mine)).toEqual(['There is no tool reply_to_sender, or you may not use it.']);
  });
});
