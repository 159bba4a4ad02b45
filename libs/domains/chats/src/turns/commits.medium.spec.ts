import { entitle } from '@aps/billing/testing';
import { NO_CALLER } from '@aps/platform/database';
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelResolver } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import { sql } from '@aps/platform/testing';
import { chatsService, script, SLOW, type TestOrg } from '../testing/chats';
import { Outbox } from '@aps/platform/outbox';
import { RunLeases } from '@aps/platform/runs';
import { TurnKind } from './turn.kind';

type Message = { role: string; content: string };

/** What is done while a commit is under way, and what happens when it takes long or fails. */
describe('a commit that is slow', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org();
    await app.addUnpricedModel('unpriced');
    // Runs at the end of a transaction, after it has answered: what is slow there is slow like a disk.
    await app.db.execute(sql(`CREATE TABLE test_commits (what text PRIMARY KEY, how text NOT NULL)`));
    await app.db.execute(
      sql(`
      CREATE FUNCTION test_commit() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE mode text := (SELECT how FROM test_commits WHERE what = TG_ARGV[0]);
      BEGIN
        IF mode IS NOT NULL THEN PERFORM pg_advisory_xact_lock_shared(hashtext(TG_ARGV[0])); END IF;
        IF mode = 'fails' THEN RAISE EXCEPTION 'the database ends' USING ERRCODE = '57P01'; END IF;
        RETURN NULL;
      END $$`),
    );
    await app.db.execute(
      sql(
        `CREATE CONSTRAINT TRIGGER test_send AFTER INSERT ON turns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION test_commit('send')`,
      ),
    );
    await app.db.execute(
      sql(
        `CREATE CONSTRAINT TRIGGER test_claim AFTER UPDATE ON turns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.status = 'queued' AND NEW.status = 'running') EXECUTE FUNCTION test_commit('claim')`,
      ),
    );
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.db.execute(sql('DELETE FROM test_commits'));
    await entitle(app, { enforces_credits: false });
  });

  const get = <T>(type: new (...args: never[]) => T): T => app.get(type);
  const replies = (chat: { messages: Message[] }) => chat.messages.filter((m) => m.role === 'assistant').map((m) => m.content);
  const eventsOf = (chat: string) =>
    app.db
      .query(sql<{ type: string }>(`SELECT type FROM events WHERE topic = 'chat:' || $1 ORDER BY seq`), [chat])
      .then((rows) => rows.map((row) => row.type));

  /** Commits of this kind wait until the work is over, and may fail then. */
  async function whileCommitting<T>(what: 'send' | 'claim', work: () => Promise<T>, how: 'waits' | 'fails' = 'waits'): Promise<T> {
    await app.db.execute(sql(`INSERT INTO test_commits VALUES ($1, $2)`), [what, how]);
    return app.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT pg_advisory_xact_lock(hashtext($1))'), [what]);
      return work();
    });
  }

  /** Resolves when the method has been called and what it returned has settled. */
  const done = <T extends object>(of: T, method: keyof T & string): Promise<void> =>
    new Promise((resolve) => {
      const original = (of[method] as (...args: unknown[]) => Promise<unknown>).bind(of);
      jest.spyOn(of as never, method as never).mockImplementationOnce(((...args: unknown[]) => {
        const result = original(...args);
        result.then(
          () => resolve(),
          () => resolve(),
        );
        return result;
      }) as never);
    });

  it('lets the model speak before a claim has committed, and nobody hear it', async () => {
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    const heard: string[] = [];
    const end = (async () => {
      for (let frame = await stream.next(); frame; frame = await stream.next()) {
        heard.push(frame.event);
        if (frame.event === 'message_completed') return;
      }
    })();
    await whileCommitting('claim', async () => {
      const spoken = done(get(ModelCalls), 'streamChat');
      expect((await app.send(org, chat, 'hello')).status).toBe(202);
      await spoken;
      expect((await app.read(org, chat)).body).toMatchObject({ status: 'ACTIVE', messages: [{ role: 'user' }] });
      expect(heard).toEqual(['snapshot', 'message_created']);
    });
    await end;
    expect(heard.slice(0, 4)).toEqual(['snapshot', 'message_created', 'status_changed', 'message_delta']);
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
  });

  it('leaves a turn to the next delivery when its claim is lost after the model has spoken', async () => {
    const chat = await app.chat(org);
    const spoken = done(get(ModelCalls), 'streamChat');
    const streamChat = jest.spyOn(get(ModelCalls), 'streamChat');
    const committing = sql(
      `SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`,
    );
    await whileCommitting(
      'claim',
      async () => {
        await app.send(org, chat, 'hello');
        await spoken;
        while (!(await app.db.query(committing)).length) await sleep(5);
        expect(await eventsOf(chat)).toEqual(['message_created']);
        // This one fails, the next does not.
        await app.db.execute(sql('DELETE FROM test_commits'));
      },
      'fails',
    );
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
    expect(streamChat).toHaveBeenCalledTimes(2);
    expect(await eventsOf(chat)).toEqual(['message_created', 'status_changed', 'message_completed', 'status_changed']);
  });

  it('cuts the model off when its claim is lost while it speaks', async () => {
    const chat = await app.chat(org);
    const asked = jest.spyOn(get(ModelCalls), 'streamChat');
    await whileCommitting(
      'claim',
      async () => {
        await app.send(org, chat, SLOW);
        while (asked.mock.calls.length === 0) await sleep(5);
      },
      'fails',
    );
    await expect(asked.mock.results[0].value).rejects.toThrow('lost');
    expect((await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner })).status).toBe(200);
  });

  it('has no heartbeat give up a turn whose claim is still on its way', async () => {
    const chat = await app.chat(org);
    await whileCommitting('claim', async () => {
      const spoken = done(get(ModelCalls), 'streamChat');
      await app.send(org, chat, 'hello');
      await spoken;
      // As if it had been on its way for as long as a heartbeat waits.
      jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
      await (get(RunLeases) as unknown as { beat: () => Promise<void> }).beat();
      jest.restoreAllMocks();
    });
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
    expect(await eventsOf(chat)).toEqual(['message_created', 'status_changed', 'message_completed', 'status_changed']);
  });

  it('writes down a provider’s refusal under a claim that has committed', async () => {
    const chat = await app.chat(org);
    await whileCommitting('claim', async () => {
      const refused = done(get(ModelCalls), 'streamChat');
      await app.send(org, chat, script({ status: 400 }));
      await refused;
      await sleep(50);
    });
    const body = await app.until(org, chat, (c) => c.status === 'ERRORED');
    expect(body.error).toMatchObject({ code: 'provider_rejected' });
  });

  it('writes down a turn’s end for a parent chat under a claim that has committed', async () => {
    const [parent, child] = [await app.chat(org), await app.chat(org)];
    await app.db.execute(sql(`UPDATE chats SET parent_chat_id = $1, origin_kind = 'agent' WHERE id = $2`), [parent, child]);
    const spoken = done(get(ModelCalls), 'streamChat');
    const streamChat = jest.spyOn(get(ModelCalls), 'streamChat');
    await whileCommitting('claim', async () => {
      await app.send(org, child, 'hello');
      await spoken;
      await sleep(50);
    });
    expect(replies(await app.settled(org, child, 1))).toEqual(['You said: hello']);
    expect(streamChat).toHaveBeenCalledTimes(1);
  });

  it('writes down that no model may be asked under a claim that has committed', async () => {
    await entitle(app, { enforces_credits: true });
    const other = await app.org({ model: 'unpriced' });
    const chat = await app.chat(other);
    let resolve: jest.SpyInstance | undefined;
    await whileCommitting('claim', async () => {
      const refused = done(get(ModelResolver), 'resolve');
      resolve = jest.spyOn(get(ModelResolver), 'resolve');
      await app.send(other, chat, 'hello');
      await refused;
      await sleep(50);
    });
    expect(await app.until(other, chat, (c) => c.stop_reason !== null)).toMatchObject({ stop_reason: 'model_unpriced' });
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  it('makes a worker wait that gets the job before its message has committed', async () => {
    const chat = await app.chat(org);
    const sent = await whileCommitting('send', async () => {
      const claiming = new Promise<void>((resolve) => {
        const kind = get(TurnKind);
        const awaitWriter = kind.awaitWriter.bind(kind);
        jest.spyOn(kind, 'awaitWriter').mockImplementationOnce((...args) => {
          resolve();
          return awaitWriter(...args);
        });
      });
      const answer = app.send(org, chat, 'hello');
      await claiming;
      expect((await app.read(org, chat)).body.messages).toEqual([]);
      return { answer };
    });
    expect(await sent.answer).toMatchObject({ status: 202, body: { dispatched: true } });
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
  });

  it('leaves nothing of a message whose commit fails, though its job was on the way', async () => {
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    await app.db.execute(sql(`INSERT INTO test_commits VALUES ('send', 'fails')`));
    const claimed = done(get(Outbox), 'cancel');
    expect((await app.send(org, chat, 'lost')).status).toBe(503);
    await claimed;
    await app.db.execute(sql('DELETE FROM test_commits'));
    expect((await app.send(org, chat, 'kept')).status).toBe(202);
    const body = await app.settled(org, chat, 1);
    expect((body.messages as Message[]).map((m) => m.content)).toEqual(['kept', 'You said: kept']);
    const frames = await stream.until((frame) => frame.event === 'message_completed');
    expect(JSON.stringify(frames)).not.toContain('lost');
    expect(await eventsOf(chat)).toEqual(['message_created', 'status_changed', 'message_completed', 'status_changed']);
  });
});
