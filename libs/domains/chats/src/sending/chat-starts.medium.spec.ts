import { Readable } from 'node:stream';
import { AgentsService } from '@aps/agents';
import { entitle } from '@aps/billing/testing';
import { attachmentOf, FilesService, type FileReference } from '@aps/files';
import { FilesHttpModule } from '@aps/files/http';
import { OrgScope } from '@aps/guards';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { Runs } from '@aps/platform/runs';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { calls, chatsService, HELD, script, SLOW, type TestOrg } from '../testing/chats';
import { addAgent } from '../testing/delegations';
import { EventStreamsClient } from '../testing/event-streams';
import { ChatStarts, type BegunTurn, type ChatStart } from './chat-starts';
import { SendService } from './send.service';

describe('chats that a domain above begins', () => {
  const app = chatsService(undefined, [FilesHttpModule]);
  let org: TestOrg;
  let scope: OrgScope;

  beforeAll(async () => {
    org = await app.org();
    scope = OrgScope.system(org.id, 'a message came');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { max_queue_depth: -1 });
  });

  const inTx = <T>(fn: (tx: Tx) => Promise<T>): Promise<T> => app.db.transaction(NO_CALLER, fn);
  const startIn = (tx: Tx, over: Partial<ChatStart> = {}, by = scope) =>
    app.get(ChatStarts).start(tx, by, {
      agent_id: org.agentId,
      title: 'Order 7',
      origin: { kind: 'inbox', ref_id: 'm1' },
      message: { content: 'hello' },
      ...over,
    });
  const start = (over?: Partial<ChatStart>) => inTx((tx) => startIn(tx, over));
  const begun = async (content = 'hello') => (await start({ message: { content } })) as BegunTurn;
  const join = (chat: string, content = 'more', attachments?: FileReference[], agent = org.agentId) =>
    inTx((tx) => app.get(SendService).join(tx, scope, agent, chat, { content, attachments }));
  const inert = () => jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
  const rows = <R = Record<string, unknown>>(text: string, ...values: unknown[]) => app.db.query(sql<R>(text), values);
  const countOf = async (table: string) =>
    (await rows<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE org_id = $1`, org.id))[0].n;
  const counts = () => Promise.all(['chats', 'turns', 'messages', 'events'].map(countOf));
  const file = async (content: string): Promise<FileReference> =>
    attachmentOf(
      await app
        .get(FilesService)
        .upload(scope, { filename: 'note.txt', bytes: Readable.from([Buffer.from(content)]), complete: Promise.resolve() }),
    );

  /** The jobs of a chat among those published: earlier ones may still have some. */
  const of = ({ chat_id }: BegunTurn, published: jest.SpiedFunction<Outbox['publish']>) =>
    published.mock.calls.flatMap(([jobs]) => jobs).filter(({ payload }) => 'chat_id' in payload && payload.chat_id === chat_id);

  it('run on the live revision, without a creator, and say what began them', async () => {
    const published = jest.spyOn(app.get(Outbox), 'publish');
    const { chat_id, message_id, turn_id } = await inTx(async (tx) => {
      const made = (await startIn(tx)) as BegunTurn;
      expect(of(made, published)).toEqual([]);
      return made;
    });
    expect(published).toHaveBeenCalledWith([expect.objectContaining({ id: turn_id, name: 'turn.run' })]);
    const chat = await app.settled(org, chat_id, 1);
    const { live_revision_id } = (
      await rows<{ live_revision_id: string }>('SELECT live_revision_id FROM agents WHERE id = $1', org.agentId)
    )[0];
    expect(chat).toMatchObject({
      title: 'Order 7',
      agent_revision_id: live_revision_id,
      created_by: null,
      parent_chat_id: null,
      root_chat_id: chat_id,
      origin: { kind: 'inbox', ref_id: 'm1' },
      messages: [
        { id: message_id, role: 'user', content: 'hello' },
        { role: 'assistant', content: 'You said: hello' },
      ],
    });
    expect(await rows('SELECT author_id FROM messages WHERE id = $1', message_id)).toEqual([{ author_id: null }]);
  });

  it('are there with the transaction that wanted them, or nothing of them is', async () => {
    const before = await counts();
    const published = jest.spyOn(app.get(Outbox), 'publish');
    let begins: BegunTurn | undefined;
    const failing = inTx(async (tx) => {
      begins = (await startIn(tx, { message: { content: 'hello', attachments: [await file('x')] } })) as BegunTurn;
      throw new Error('the rest did not work');
    });
    await expect(failing).rejects.toThrow('the rest did not work');
    expect(await counts()).toEqual(before);
    expect(of(begins!, published)).toEqual([]);
  });

  it('take whatever a sender writes', async () => {
    const { chat_id } = (await start({ title: 'a\0b\ud800', message: { content: 'nul \0 and half \udfff' } })) as BegunTurn;
    expect(await app.settled(org, chat_id, 1)).toMatchObject({ title: 'ab\ufffd', messages: [{ content: 'nul  and half \ufffd' }, {}] });
  });

  it('are open to every member, with all that is in them, and to nobody else', async () => {
    const attached = await file('the attachment');
    const { chat_id } = (await start({ message: { content: 'see the file', attachments: [attached] } })) as BegunTurn;
    await app.settled(org, chat_id, 1);
    const streams = new EventStreamsClient(app);
    const as = org.member;
    expect((await app.call('GET', org.path, { as })).body.items.map((c: { id: string }) => c.id)).toContain(chat_id);
    expect((await app.read(org, chat_id, as)).body.messages[0].attachments).toEqual([attached]);
    expect((await app.call('GET', `${org.path}/${chat_id}/timeline`, { as })).body.items).toContainEqual(
      expect.objectContaining({ type: 'user_message_received', actor: { kind: 'inbox', id: 'm1', name: null } }),
    );
    for (const stream of [await app.stream(org, chat_id, { as }), await streams.events(org, { topics: `chat:${chat_id}` }, { as })])
      expect((await stream.until(({ event }) => event === 'snapshot'))[0].data.data.chat.id).toBe(chat_id);
    const read = (bearer: { token: string }) =>
      fetch(`${app.url}/api/orgs/${org.id}/files/${attached.file_id}`, { headers: { Authorization: `Bearer ${bearer.token}` } });
    expect(await (await read(as)).text()).toBe('the attachment');
    // From now on it lives as long as the chat.
    expect(await rows('SELECT expires_at FROM files WHERE id = $1', attached.file_id)).toEqual([{ expires_at: null }]);
    expect((await app.call('POST', `${org.path}/${chat_id}/messages`, { as, body: { content: 'I take over' } })).status).toBe(202);
    const stranger = (await app.org()).owner;
    expect((await app.read(org, chat_id, stranger)).status).toBe(403);
    expect((await read(stranger)).status).toBe(403);
  });

  it('do without a file that is gone', async () => {
    const gone = { ...(await file('x')), file_id: uuidv7() };
    const { chat_id } = (await start({ message: { content: 'see', attachments: [gone] } })) as BegunTurn;
    expect((await app.settled(org, chat_id, 1)).messages[0].attachments).toEqual([gone]);
  });

  it('are refused without an agent that can run them, and leave nothing', async () => {
    const [deleted, bare] = [await addAgent(app, org, { name: 'Deleted' }), await addAgent(app, org, { name: 'Bare' })];
    await app.get(AgentsService).delete(OrgScope.member(org.id, org.owner.id, 'OWNER'), deleted.agentId);
    await app.db.execute(sql('UPDATE agents SET live_revision_id = NULL WHERE id = $1'), [bare.agentId]);
    const before = await counts();
    for (const agent_id of [uuidv7(), deleted.agentId, bare.agentId, (await app.org()).agentId])
      expect(await start({ agent_id })).toEqual({ refused: 'no_agent' });
    expect(await counts()).toEqual(before);
  });

  it('are refused where the queue is full: exactly, however many come at once', async () => {
    inert();
    const other = await app.org();
    const ofOther = OrgScope.system(other.id, 'a message came');
    await entitle(app, { max_queue_depth: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => inTx((tx) => startIn(tx, { agent_id: other.agentId }, ofOther))));
    const full = { refused: 'queue_full' };
    expect(answers.filter((answer) => 'refused' in answer)).toEqual(Array(5).fill(full));
    const made = await rows<{ id: string }>('SELECT c.id FROM chats c JOIN turns t ON t.chat_id = c.id WHERE c.org_id = $1', other.id);
    expect(made).toHaveLength(3);
    expect(await rows('SELECT id FROM chats WHERE org_id = $1', other.id)).toHaveLength(3);
    const joining = inTx((tx) => app.get(SendService).join(tx, ofOther, other.agentId, made[0].id, { content: 'more' }));
    expect(await joining).toEqual(full);
  });

  describe('a message that joins one', () => {
    it('is answered, with its files, by a turn of its own', async () => {
      const { chat_id } = await begun();
      await app.settled(org, chat_id, 1);
      const attached = await file('more to read');
      const joined = (await join(chat_id, 'again', [attached])) as BegunTurn;
      const chat = await app.settled(org, chat_id, 2);
      expect(chat.messages.slice(2)).toMatchObject([
        { id: joined.message_id, content: 'again', attachments: [attached] },
        { role: 'assistant', content: expect.stringContaining('again') },
      ]);
      expect(await rows('SELECT message_id FROM turns WHERE id = $1', joined.turn_id)).toEqual([{ message_id: joined.message_id }]);
      expect(await rows('SELECT target_id FROM file_links WHERE file_id = $1', attached.file_id)).toEqual([
        { target_id: joined.message_id },
      ]);
    });

    it('waits behind the turn that runs', async () => {
      const first = script({ text: 'first', delay_ms: HELD });
      const { chat_id } = await begun(first);
      await app.until(org, chat_id, (c) => c.status === 'RUNNING');
      const { turn_id } = (await join(chat_id)) as BegunTurn;
      expect(
        await rows('SELECT t.status, (SELECT count(*)::int FROM outbox o WHERE o.id = t.id) AS jobs FROM turns t WHERE t.id = $1', turn_id),
      ).toEqual([{ status: 'queued', jobs: 0 }]);
      app.letGo(first);
      expect(
        (await app.settled(org, chat_id, 2)).messages
          .map((m: { content: string }) => m.content)
          .slice(1)
          .sort(),
      ).toEqual(['You said: more', 'first', 'more']);
    });

    it('takes the place of a human whom the agent has asked', async () => {
      const { chat_id } = await begun(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
      await app.until(org, chat_id, (c) => c.status === 'PAUSED');
      await join(chat_id);
      await app.settled(org, chat_id, 1);
      expect(await rows('SELECT status FROM hitl_requests WHERE chat_id = $1', chat_id)).toEqual([{ status: 'cancelled' }]);
    });

    it('revives a chat that has failed', async () => {
      const { chat_id } = await begun(script({ error: { status: 400, message: 'no' } }));
      await app.until(org, chat_id, (c) => c.status === 'ERRORED');
      await join(chat_id, script({ text: 'better' }));
      expect(await app.settled(org, chat_id, 1)).toMatchObject({ status: 'ACTIVE', error: null });
    });

    it('is there with its transaction, or nothing has happened', async () => {
      const { chat_id } = await begun(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
      await app.until(org, chat_id, (c) => c.status === 'PAUSED');
      const before = await counts();
      const failing = inTx(async (tx) => {
        await app.get(SendService).join(tx, scope, org.agentId, chat_id, { content: 'more' });
        throw new Error('the rest did not work');
      });
      await expect(failing).rejects.toThrow('the rest did not work');
      expect(await counts()).toEqual(before);
      expect((await app.read(org, chat_id)).body).toMatchObject({ status: 'PAUSED', pending_hitl_count: 1 });
    });

    it('is refused by what is over, is not there, or is another agent’s, and leaves nothing', async () => {
      const end = {
        archived: (chat: string) => app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { archived: true } }),
        deleted: (chat: string) => app.call('DELETE', `${org.path}/${chat}`, { as: org.owner }),
        terminated: (chat: string) => app.call('POST', `${org.path}/${chat}/terminate`, { as: org.owner }),
        abandoned: (chat: string) => app.db.execute(sql(`UPDATE chats SET status = 'ABANDONED' WHERE id = $1`), [chat]),
      };
      const over: string[] = [];
      for (const how of Object.values(end)) {
        const { chat_id } = await begun();
        await app.settled(org, chat_id, 1);
        await how(chat_id);
        over.push(chat_id);
      }
      const gone = await addAgent(app, org, { name: 'Gone' });
      const { chat_id: orphan } = (await start({ agent_id: gone.agentId })) as BegunTurn;
      await app.settled(gone, orphan, 1);
      await app.get(AgentsService).delete(OrgScope.member(org.id, org.owner.id, 'OWNER'), gone.agentId);
      const { chat_id: live } = await begun(SLOW);
      const before = await countOf('messages');
      for (const chat of [...over, uuidv7()]) expect(await join(chat)).toEqual({ refused: 'chat_closed' });
      expect(await join(orphan, 'more', undefined, gone.agentId)).toEqual({ refused: 'chat_closed' });
      expect(await join(live, 'more', undefined, gone.agentId)).toEqual({ refused: 'chat_closed' });
      expect(await countOf('messages')).toBe(before);
      await app.call('POST', `${org.path}/${live}/terminate`, { as: org.owner });
    });
  });
});
