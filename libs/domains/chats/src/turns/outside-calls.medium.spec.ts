import { metrics } from '@aps/platform/observability';
import { LeaseEnded, RunLeases, type AbortReason } from '@aps/platform/runs';
import { randomly, sql, undisturbed, type Answer } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { ToolCatalog } from '@aps/tools';
import { BOOK, bookingTools, Ledger } from '@aps/tools/testing';
import { calls, chatsService, script, type TestOrg } from '../testing/chats';
import { ToolCalls } from './tool-call';
import { ToolStepRunner } from './tool-step';
import { OUTCOME_UNKNOWN } from './transcript';
import { TurnRepository } from './turn.repository';

const HASTY = { idleMs: 1_500, totalMs: 6_000 };
const SCHEDULES = Number(process.env.CERTIFY_SCHEDULES ?? 60);
const AT_ONCE = 12;

/** What its worker can die after, in the order in which it happens. */
const DEATHS = ['intent', 'sent', 'effect', 'result'] as const;
type Death = (typeof DEATHS)[number];
type Kind = 'inside' | 'by_key' | 'once';

type Method = (...args: unknown[]) => Promise<unknown>;
type Chat = Answer['body'];

describe('a call with an effect outside of the database', () => {
  const app = chatsService();
  const ledger = new Ledger();
  let org: TestOrg;

  beforeAll(async () => {
    await ledger.start();
    org = await app.org({ allowed_tools: ['con:books'] });
    await app.db.execute(sql(BOOK));
    get(ToolCatalog).register(...bookingTools(ledger, HASTY));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    ledger.behave = () => 'answer';
  });
  afterAll(() => ledger.stop());

  const get = <T>(type: new (...args: never[]) => T): T => app.get(type);
  const rows = <R = Record<string, unknown>>(text: string, ...values: unknown[]) => app.db.query(sql<R>(text), values);
  const results = (chat: Chat): string[] =>
    chat.messages.filter((m: { role: string }) => m.role === 'tool').map((m: { content: string }) => m.content);
  const stepsOf = async (chat: string) =>
    (await rows<{ status: string }>(`SELECT status FROM turn_steps WHERE chat_id = $1 AND kind = 'tool' ORDER BY step_no`, chat)).map(
      (s) => s.status,
    );
  const turnOf = async (chat: string) =>
    (await rows<{ id: string }>('SELECT id FROM turns WHERE chat_id = $1 ORDER BY seq DESC', chat))[0].id;
  const booked = async (kind: Kind, memo: string) =>
    kind === 'inside' ? rows<{ key: string }>('SELECT key FROM book WHERE memo = $1', memo) : ledger.of(ledger.effects, memo);
  /** Has the agent book something, named after the test so that it is no other's. */
  const book = async (tool: string, memo: string): Promise<string> => {
    const chat = await app.chat(org);
    await app.send(org, chat, calls(`con_books_${tool}`, { memo }));
    return chat;
  };
  const arrives = (memo: string) =>
    eventually(
      () => Promise.resolve(ledger.of(ledger.arrived, memo).length),
      (n) => n > 0,
    );
  /** Has the other side answer when it is told to. */
  const holding = () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    ledger.behave = () => held.then(() => 'answer' as const);
    return letGo;
  };
  const end = async (chat: string, reason: AbortReason) => {
    const leases = get(RunLeases) as unknown as { held: Map<string, object>; end(lease: object, reason: AbortReason): void };
    leases.end(leases.held.get(await turnOf(chat))!, reason);
  };
  /** Has a method of the owner run to its end, or not at all, and its worker die then. @returns when it has */
  const dies = (of: object, method: string, when: 'before' | 'after'): Promise<void> =>
    new Promise((resolve) => {
      const methods = of as Record<string, Method>;
      const original = methods[method].bind(of);
      jest.spyOn(methods, method).mockImplementationOnce(async (...args) => {
        if (when === 'after') await original(...args);
        resolve();
        throw new LeaseEnded('lost');
      });
    });
  const diesAfter = (kind: Kind, death: Death): Promise<void> => {
    const made = kind === 'inside' ? 'run' : 'send';
    switch (death) {
      case 'intent':
        return dies(get(ToolCalls), made, 'before');
      case 'sent':
        return kind === 'once' ? dies(get(TurnRepository), 'sendCall', 'after') : dies(get(ToolCalls), made, 'before');
      case 'effect':
        return dies(get(ToolCalls), made, 'after');
      case 'result':
        return dies(get(ToolStepRunner), 'inOwnedTransaction', 'after');
    }
  };
  const outcomes = async () =>
    (await metrics.getSingleMetric('tool_calls_total')!.get()).values.find(
      ({ labels }) => labels.tool === 'con_books.once' && labels.outcome === 'outcome_unknown',
    )?.value ?? 0;

  describe('whose worker dies', () => {
    const CASES = (['inside', 'by_key', 'once'] as const).flatMap((kind) => DEATHS.map((death) => [kind, death] as const));

    it.each(CASES)('(%s) after its %s has it once, or says that nobody knows', async (kind, death) => {
      const memo = `${kind} dies after its ${death}`;
      const died = diesAfter(kind, death);
      const chat = await book(kind, memo);
      await died;
      await app.expireLease(chat);
      const unknown = kind === 'once' && (death === 'sent' || death === 'effect');
      expect(results(await app.settled(org, chat, 1))).toEqual([unknown ? OUTCOME_UNKNOWN : 'booked']);
      expect(await stepsOf(chat)).toEqual([unknown ? 'outcome_unknown' : 'done']);
      const effects = await booked(kind, memo);
      expect(effects).toHaveLength(unknown && death === 'sent' ? 0 : 1);
      const arrived = ledger.of(ledger.arrived, memo);
      expect(arrived).toHaveLength(kind === 'inside' ? 0 : kind === 'by_key' && death === 'effect' ? 2 : effects.length);
      const [{ step_no, tool_call_id }] = await rows<{ step_no: number; tool_call_id: string }>(
        `SELECT step_no, tool_call_id FROM turn_steps WHERE chat_id = $1 AND kind = 'tool'`,
        chat,
      );
      for (const { key } of [...effects, ...arrived]) expect(key).toBe(`${await turnOf(chat)}/${step_no}/${tool_call_id}`);
    });
  });

  it('whose worker stands still after it was noted is made by that one at most', async () => {
    const memo = 'stands still';
    let thaw = () => {};
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const repository = get(TurnRepository);
    const sendCall = repository.sendCall.bind(repository);
    const noted = new Promise<void>((resolve) => {
      jest.spyOn(repository, 'sendCall').mockImplementationOnce(async (...args) => {
        const sent = await sendCall(...args);
        resolve();
        await frozen;
        return sent;
      });
    });
    const chat = await book('once', memo);
    await noted;
    await app.expireLease(chat);
    expect(results(await app.settled(org, chat, 1))).toEqual([OUTCOME_UNKNOWN]);
    thaw();
    await arrives(memo);
    expect(results((await app.read(org, chat)).body)).toEqual([OUTCOME_UNKNOWN]);
    expect(ledger.of(ledger.arrived, memo)).toHaveLength(1);
  });

  it('is told once to the model, the readers and the journal when its outcome is not known', async () => {
    const before = await outcomes();
    const died = diesAfter('once', 'effect');
    const chat = await app.chat(org);
    const stream = await app.stream(org, chat);
    await app.send(org, chat, calls('con_books_once', { memo: 'told' }));
    await died;
    await app.expireLease(chat);
    const frames = await stream.until((f) => f.event === 'message_completed' && f.data.data.final === true);
    stream.close();
    const told = frames.filter((f) => f.event === 'tool_result').map((f) => f.data.data);
    expect(told).toMatchObject([{ status: 'outcome_unknown', content: OUTCOME_UNKNOWN, name: 'con_books_once' }]);
    const { body } = await app.call('GET', `${org.path}/${chat}/timeline`, { as: org.owner });
    const events = (body.items as { type: string; metadata: { kind?: string; status?: string } }[]).filter(
      ({ type, metadata }) => type === 'tool_result' || metadata.kind === 'tool',
    );
    expect(events.map(({ type, metadata }) => [type, metadata.status])).toEqual([
      ['tool_result', 'outcome_unknown'],
      ['agent_step', 'outcome_unknown'],
    ]);
    const [{ seq }] = await rows<{ seq: number }>('SELECT seq FROM turns WHERE chat_id = $1', chat);
    const transcript = await get(TurnRepository).transcript(app.db, { chat_id: chat, seq });
    expect(transcript.filter(({ content }) => content === OUTCOME_UNKNOWN)).toHaveLength(1);
    expect((await outcomes()) - before).toBe(1);
    expect(await rows('SELECT steps_done FROM turns WHERE chat_id = $1', chat)).toEqual([{ steps_done: 3 }]);
  });

  it.each(['stop', 'terminate'])('that a %s cuts off is known as such from then on, and the next turn reads it', async (action) => {
    const letGo = holding();
    const chat = await book('once', action);
    await arrives(action);
    expect((await app.call('POST', `${org.path}/${chat}/${action}`, { as: org.owner, body: {} })).status).toBe(200);
    const { body } = await app.read(org, chat);
    expect([results(body), await stepsOf(chat)]).toEqual([[OUTCOME_UNKNOWN], ['outcome_unknown']]);
    expect(await rows(`SELECT data->>'status' AS status FROM events WHERE topic = 'chat:' || $1 AND type = 'tool_result'`, chat)).toEqual([
      { status: 'outcome_unknown' },
    ]);
    letGo();
    expect(ledger.of(ledger.arrived, action)).toHaveLength(1);
    if (action === 'terminate') return;
    await app.send(org, chat, 'and now?');
    const after = await app.until(org, chat, (c) => c.messages.at(-1).content === 'You said: and now?');
    expect(after.messages.map((m: { role: string }) => m.role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
    expect(results(after)).toEqual([OUTCOME_UNKNOWN]);
  });

  it('that its suspended organization cuts off is known as such', async () => {
    const letGo = holding();
    const chat = await book('once', 'suspended');
    await arrives('suspended');
    await end(chat, 'org_suspended');
    const body = await app.until(org, chat, (c) => c.stop_reason === 'org_suspended');
    expect([results(body), await stepsOf(chat)]).toEqual([[OUTCOME_UNKNOWN], ['outcome_unknown']]);
    letGo();
  });

  it('that a shutdown cuts off is made again where that does no harm, and else known as such', async () => {
    const letGo = holding();
    const [again, once] = [await book('by_key', 'again'), await book('once', 'once')];
    for (const memo of ['again', 'once']) await arrives(memo);
    for (const chat of [again, once]) await end(chat, 'shutdown');
    letGo();
    expect(results(await app.settled(org, again, 1))).toEqual(['booked']);
    expect(results(await app.settled(org, once, 1))).toEqual([OUTCOME_UNKNOWN]);
    expect([ledger.of(ledger.effects, 'again').length, ledger.of(ledger.arrived, 'once').length]).toEqual([1, 1]);
  });

  it('is not begun by a process that is about to end', async () => {
    const chat = await app.chat(org);
    const begun = new Promise<number>((resolve) => {
      const leases = get(RunLeases);
      const hold = leases.hold.bind(leases);
      jest.spyOn(leases, 'hold').mockImplementationOnce((...args) => {
        const lease = hold(...args);
        const original = lease.requireNext.bind(lease);
        // The shutdown comes while the first of two calls is out.
        lease.requireNext = () => {
          if (ledger.of(ledger.arrived, 'first').length === 0) return original();
          resolve(ledger.of(ledger.arrived, 'second').length);
          throw new LeaseEnded('shutdown');
        };
        return lease;
      });
    });
    const two = ['first', 'second'].map((memo) => ({ name: 'con_books_once', arguments: { memo } }));
    await app.send(org, chat, script({ tool_calls: two }, { text: 'done' }));
    expect(await begun).toBe(0);
    expect(results(await app.settled(org, chat, 1))).toEqual(['booked', 'booked']);
    expect(['first', 'second'].map((memo) => ledger.of(ledger.arrived, memo).length)).toEqual([1, 1]);
  });

  it('is noted by nobody but its owner, and not made any more when its turn ends meanwhile', async () => {
    const repository = get(TurnRepository);
    const sendCall = repository.sendCall.bind(repository);
    let chat = '';
    let stale: boolean | undefined;
    jest.spyOn(repository, 'sendCall').mockImplementationOnce(async (db, turn, stepNo) => {
      stale = await sendCall(db, { ...turn, fence: String(BigInt(turn.fence) - 1n) }, stepNo);
      const sent = await sendCall(db, turn, stepNo);
      await end(chat, 'shutdown');
      return sent;
    });
    chat = await app.chat(org);
    await app.send(org, chat, calls('con_books_once', { memo: 'deaf, and too late' }));
    expect(results(await app.settled(org, chat, 1))).toEqual([OUTCOME_UNKNOWN]);
    expect([stale, ledger.of(ledger.arrived, 'deaf, and too late')]).toEqual([false, []]);
  });

  it('is known as such although its tool was switched off in the meantime', async () => {
    const died = diesAfter('once', 'effect');
    const chat = await book('once', 'switched off');
    await died;
    await app.db.execute(sql(`UPDATE chats SET enabled_scopes = '{}' WHERE id = $1`), [chat]);
    await app.expireLease(chat);
    expect(results(await app.settled(org, chat, 1))).toEqual([OUTCOME_UNKNOWN]);
  });

  it('is an ordinary failure where it was refused or never sent, and unknown where the other side hung up', async () => {
    const resultOf = async (tool: string, memo: string) => {
      const chat = await book(tool, memo);
      const [content] = results(await app.settled(org, chat, 1));
      return [content, ...(await stepsOf(chat))];
    };
    ledger.behave = ({ memo }) => (memo.startsWith('hung') ? 'hang up' : 'refuse');
    expect(await resultOf('once', 'refused')).toEqual(['no such account', 'failed']);
    expect(await resultOf('once', 'unreachable')).toEqual([
      'con_books_once was not made and had no effect: the bank has no address',
      'failed',
    ]);
    expect(await resultOf('once', 'hung up')).toEqual([OUTCOME_UNKNOWN, 'outcome_unknown']);
    expect(await resultOf('by_key', 'hung up, by key')).toEqual([
      'con_books_by_key failed on our side, and may have had an effect.',
      'failed',
    ]);
    expect(ledger.of(ledger.arrived, 'hung up')).toHaveLength(1);
  });

  it('is cut off when it takes too long, unless it gets further, whether its tool listens or not', async () => {
    const after = (ms: number) => new Promise<'answer'>((resolve) => setTimeout(() => resolve('answer'), ms).unref());
    ledger.behave = ({ memo }) => after(memo === 'progressing' ? HASTY.idleMs * 1.2 : 60_000);
    const memos = {
      late: 'hasty',
      deaf: 'hasty',
      'late, by key': 'by_key',
      progressing: 'hasty',
      'progressing, then late': 'by_key',
      'progressing for ever': 'by_key',
    };
    const told = await undisturbed(500, async () => {
      const chats = await Promise.all(Object.entries(memos).map(([memo, tool]) => book(tool, memo)));
      return Promise.all(chats.map(async (chat) => results(await app.settled(org, chat, 1))[0]));
    });
    expect(told).toEqual([
      OUTCOME_UNKNOWN,
      OUTCOME_UNKNOWN,
      'con_books_by_key was cut off: nothing was heard of it for 1.5 s. It may be made again.',
      'booked',
      'con_books_by_key was cut off: nothing was heard of it for 1.5 s. It may be made again.',
      'con_books_by_key was cut off: it took more than 6 s. It may be made again.',
    ]);
  });

  describe('that a human has approved', () => {
    const approved = async (tool: string, memo: string, note?: string): Promise<string> => {
      const chat = await app.chat(org);
      const call = { tool_slug: `con_books.${tool}`, arguments: { memo } };
      const escalated = { kind: 'escalate', summary: 'Book', basis: 'Rule', rationale: 'Why', ...call };
      await app.send(org, chat, script({ tool_calls: [{ name: 'record_decision', arguments: escalated }] }, { text: 'done' }));
      const { pause } = await app.until(org, chat, (c) => c.status === 'PAUSED');
      const body = { decision: 'approve', note };
      await app.call('POST', `/api/orgs/${org.id}/hitl-requests/${pause.request_id}/answer`, { as: org.owner, body });
      return chat;
    };

    it.each(DEATHS)('goes by the same rules when its worker dies after its %s', async (death) => {
      const memo = `approved, dies after its ${death}`;
      // The answer is read in a transaction of its own, before.
      const steps = get(ToolStepRunner) as unknown as Record<string, Method>;
      const original = steps.inOwnedTransaction.bind(steps);
      let died = death === 'result' ? Promise.resolve() : diesAfter('once', death);
      const completing = new Promise<void>((resolve) => {
        if (death !== 'result') return resolve();
        jest.spyOn(steps, 'inOwnedTransaction').mockImplementation(async (...args) => {
          const done = await original(...args);
          if (ledger.of(ledger.arrived, memo).length === 0) return done;
          jest.restoreAllMocks();
          resolve();
          throw new LeaseEnded('lost');
        });
      });
      const chat = await approved('once', memo, 'Go');
      died = Promise.all([died, completing]).then(() => undefined);
      await died;
      await app.expireLease(chat);
      const unknown = death === 'sent' || death === 'effect';
      const content = `A human approved this and says: Go\n\n${unknown ? OUTCOME_UNKNOWN : 'booked'}`;
      expect(results(await app.settled(org, chat, 1))).toEqual([content]);
      expect(await stepsOf(chat)).toEqual([unknown ? 'outcome_unknown' : 'done']);
      expect(ledger.of(ledger.arrived, memo)).toHaveLength(death === 'sent' ? 0 : 1);
    });

    it('is unknown where the other side hung up, and where a stop has cut it off', async () => {
      ledger.behave = () => 'hang up';
      const chat = await approved('once', 'approved, hung up');
      expect(results(await app.settled(org, chat, 1))).toEqual([OUTCOME_UNKNOWN]);
      const letGo = holding();
      const stopped = await approved('once', 'approved, stopped');
      await arrives('approved, stopped');
      await app.call('POST', `${org.path}/${stopped}/stop`, { as: org.owner, body: {} });
      expect(results((await app.read(org, stopped)).body)).toEqual([OUTCOME_UNKNOWN]);
      letGo();
    });
  });

  it('is made once, or known as unknown, whatever happens to its workers and its turn at the same time', async () => {
    const seed = Number(process.env.TEST_SEED ?? 1);
    const kinds: Kind[] = ['inside', 'by_key', 'once'];
    const pick = randomly(seed);
    const sometimes = (of: object, method: string, share: number) => {
      const methods = of as Record<string, Method>;
      const original = methods[method].bind(of);
      jest.spyOn(methods, method).mockImplementation(async (...args) => {
        const draw = pick();
        if (draw < share) throw new LeaseEnded('lost');
        const result = await original(...args);
        if (draw > 1 - share) throw new LeaseEnded('lost');
        return result;
      });
    };
    sometimes(get(ToolCalls), 'send', 0.08);
    sometimes(get(ToolCalls), 'run', 0.08);
    sometimes(get(TurnRepository), 'sendCall', 0.08);
    sometimes(get(ToolStepRunner), 'inOwnedTransaction', 0.06);
    ledger.behave = async () => {
      await new Promise((r) => setTimeout(r, pick() * 60));
      return pick() < 0.1 ? 'hang up' : 'answer';
    };
    const play = async (n: number): Promise<void> => {
      const kind = kinds[n % 3];
      const memo = `schedule ${n}`;
      const chat = await book(kind, memo);
      const isOver = async () =>
        (await rows<{ n: number }>(`SELECT count(*)::int AS n FROM turns WHERE chat_id = $1 AND finished_at IS NULL`, chat))[0].n === 0;
      while (!(await isOver())) {
        await new Promise((r) => setTimeout(r, pick() * 120));
        const act = pick();
        if (act < 0.08) await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
        else if (act < 0.2) await end(chat, 'shutdown').catch(() => undefined);
        else if (act < 0.7) await app.expireLease(chat);
      }
      const [status] = await stepsOf(chat);
      const told = results((await app.read(org, chat)).body);
      const arrived = ledger.of(ledger.arrived, memo);
      const facts = { seed, n, kind, status, told, arrived: arrived.length, effects: (await booked(kind, memo)).length };
      expect({ ...facts, left: status === 'sent', twice: told.length > 1 || facts.effects > 1 }).toEqual({
        ...facts,
        left: false,
        twice: false,
      });
      if (status === 'done') expect(facts).toMatchObject({ effects: 1, told: ['booked'] });
      if (kind === 'inside' && status !== 'done') expect(facts).toMatchObject({ effects: 0 });
      if (kind === 'by_key') expect(new Set(arrived.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
      if (kind !== 'once') return;
      expect(facts.arrived).toBeLessThanOrEqual(1);
      // Never silent: what has arrived is known as done or as unknown.
      if (facts.arrived === 1) expect(['done', 'outcome_unknown']).toContain(status);
      if (status === 'outcome_unknown') expect(told).toEqual([OUTCOME_UNKNOWN]);
    };
    const numbers = Array.from({ length: SCHEDULES }, (_, n) => n);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await play(n);
      }),
    );
  });
});
