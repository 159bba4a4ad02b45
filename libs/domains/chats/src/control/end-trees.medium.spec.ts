import { AgentsService } from '@aps/agents';
import { OrgScope } from '@aps/guards';
import { NO_CALLER } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { calls, chatsService, script, SLOW, type TestOrg } from '../testing/chats';
import { MAX_CHILDREN_AT_WORK } from '../delegation/delegation.policy';
import { delegatingOrg } from '../testing/delegating';
import { CloseService } from './close.service';

describe('the end of chats with all that they have delegated to', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await delegatingOrg(app);
  });

  const rows = <R = Record<string, unknown>>(text: string, ...values: unknown[]) => app.db.query(sql<R>(text), values);
  const delegate = (to: string, task: string) => ({ tool_calls: [{ name: 'delegate_to_agent', arguments: { agent: to, task } }] });
  const asking = calls('ask_human', { kind: 'question', prompt: 'Which?' });
  const family = (root: string) =>
    rows<{ id: string; status: string; stop_reason: string | null }>(
      'SELECT id, status, stop_reason FROM chats WHERE root_chat_id = $1 ORDER BY depth, id',
      root,
    );
  const end = (chats: string[], where: { id: string } = org) =>
    app.db.transaction(NO_CALLER, (tx) =>
      app.get(CloseService).endTrees(tx, OrgScope.system(where.id, 'the message was terminated'), chats),
    );
  const open = (root: string) =>
    rows(
      `SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE c.root_chat_id = $1 AND t.status IN ('queued', 'running', 'waiting')
       UNION ALL SELECT h.id FROM hitl_requests h JOIN chats c ON c.id = h.chat_id WHERE c.root_chat_id = $1 AND h.status = 'pending'
       UNION ALL SELECT w.id FROM child_waits w JOIN chats c ON c.id = w.parent_chat_id WHERE c.root_chat_id = $1 AND w.status = 'open'
       UNION ALL SELECT o.id FROM outbox o JOIN turns t ON t.id = o.id JOIN chats c ON c.id = t.chat_id WHERE c.root_chat_id = $1`,
      root,
    );
  /** A chat that waits for a helper, which waits for a leaf that does this. */
  const threeDeep = async (task: string, isThere: (leaf: { status: string }) => boolean): Promise<string> => {
    const chat = await app.chat(org);
    await app.send(org, chat, script(delegate('helper', script(delegate('leaf', task), { text: 'helped' })), { text: 'all done' }));
    for (;;) {
      const [, , leaf] = await family(chat);
      if (leaf && isThere(leaf)) return chat;
      await new Promise((r) => setTimeout(r, 20));
    }
  };

  it('reaches every chat below, whatever it does, and cancels what they ask humans', async () => {
    const running = await threeDeep(SLOW, (leaf) => leaf.status === 'RUNNING');
    const human = await threeDeep(asking, (leaf) => leaf.status === 'PAUSED');
    await end([running, human]);
    for (const root of [running, human]) {
      expect((await family(root)).map(({ status, stop_reason }) => [status, stop_reason])).toEqual(
        Array(3).fill(['ARCHIVED', 'terminated']),
      );
      expect(await open(root)).toEqual([]);
      // Nobody is told of the end of who has ended with it.
      expect(
        await rows(`SELECT DISTINCT w.status FROM child_waits w JOIN chats c ON c.id = w.parent_chat_id WHERE c.root_chat_id = $1`, root),
      ).toEqual([{ status: 'abandoned' }]);
    }
  });

  it('changes nothing the second time, nor what is over, another organization’s or nowhere', async () => {
    const [idle, archived, foreign] = [await app.chat(org), await app.chat(org), await app.chat(await app.org())];
    await app.call('PATCH', `${org.path}/${archived}`, { as: org.owner, body: { archived: true } });
    await end([idle, archived, foreign, uuidv7()]);
    const state = () =>
      rows('SELECT id, status, stop_reason, event_seq, updated_at FROM chats WHERE id = ANY($1) ORDER BY id', [idle, archived, foreign]);
    const before = await state();
    expect(before).toMatchObject([
      { id: idle, status: 'ARCHIVED', stop_reason: 'terminated' },
      { id: archived, status: 'ARCHIVED', stop_reason: 'user_archived' },
      { id: foreign, status: 'ACTIVE' },
    ]);
    await end([idle, archived, foreign]);
    await end([]);
    expect(await state()).toEqual(before);
  });

  it('leaves a chat that its user has archived as it is, and cancels what that has asked', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, asking);
    await app.until(org, chat, (c) => c.status === 'PAUSED');
    await app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { archived: true } });
    await end([chat]);
    expect(await family(chat)).toMatchObject([{ status: 'ARCHIVED', stop_reason: 'user_archived' }]);
    expect(await rows('SELECT status FROM hitl_requests WHERE chat_id = $1', chat)).toEqual([{ status: 'cancelled' }]);
  });

  it('reaches what chats have delegated to that are deleted, or whose agents are', async () => {
    const deleted = await threeDeep(SLOW, (leaf) => leaf.status === 'RUNNING');
    await app.call('DELETE', `${org.path}/${deleted}`, { as: org.owner });
    const other = await delegatingOrg(app);
    const chat = await app.chat(other);
    await app.get(AgentsService).delete(OrgScope.member(other.id, other.owner.id, 'OWNER'), other.agentId);
    await end([deleted]);
    await end([chat], other);
    expect((await family(deleted)).slice(1).map(({ status }) => status)).toEqual(['ARCHIVED', 'ARCHIVED']);
    expect(await open(deleted)).toEqual([]);
    expect(await family(chat)).toMatchObject([{ status: 'ARCHIVED', stop_reason: 'terminated' }]);
  });

  it('undoes nothing and ends nothing where its transaction fails', async () => {
    const chat = await threeDeep(asking, (leaf) => leaf.status === 'PAUSED');
    const before = await family(chat);
    const failing = app.db.transaction(NO_CALLER, async (tx) => {
      await app.get(CloseService).endTrees(tx, OrgScope.system(org.id, 'the message was terminated'), [chat]);
      throw new Error('the rest did not work');
    });
    await expect(failing).rejects.toThrow('the rest did not work');
    expect(await family(chat)).toEqual(before);
    await end([chat]);
  });

  it('leaves nothing at work, however many end it while it delegates', async () => {
    for (let round = 0; round < 5; round++) {
      const chat = await app.chat(org);
      await app.send(
        org,
        chat,
        script({ ...delegate('helper', script(delegate('leaf', SLOW), { text: 'helped' })), delay_ms: 30 * round }),
      );
      await new Promise((r) => setTimeout(r, 40 * round));
      await Promise.all([end([chat]), end([chat]), end([chat])]);
      expect(await open(chat)).toEqual([]);
      expect(new Set((await family(chat)).map(({ status }) => status))).toEqual(new Set(['ARCHIVED']));
    }
  });

  describe('one answer that delegates over and over', () => {
    const fanningOut = async (): Promise<string> => {
      const chat = await app.chat(org, { shared: true });
      const { tool_calls } = delegate('leaf', SLOW);
      await app.send(org, chat, script({ tool_calls: Array.from({ length: MAX_CHILDREN_AT_WORK }, () => tool_calls[0]) }));
      while ((await family(chat)).length < 3) await new Promise((r) => setTimeout(r, 1));
      return chat;
    };
    const asked = (method: string, path: string, body: unknown) => app.call(method, `${org.path}/${path}`, { as: org.owner, body });

    it.each([
      ['its end', (chat: string) => end([chat])],
      ['a stop with cascade', (chat: string) => asked('POST', `${chat}/stop`, { cascade: true })],
    ])('is overtaken by %s', async (_, over) => {
      const chat = await fanningOut();
      await over(chat);
      expect(await open(chat)).toEqual([]);
    });

    it('is made private with all that it began, and begins the rest so', async () => {
      const chat = await fanningOut();
      expect(await asked('PATCH', chat, { shared: false })).toMatchObject({ status: 200 });
      while ((await family(chat)).length <= MAX_CHILDREN_AT_WORK) await new Promise((r) => setTimeout(r, 20));
      expect(await rows('SELECT id FROM chats WHERE root_chat_id = $1 AND shared', chat)).toEqual([]);
      await end([chat]);
    });
  });
});
