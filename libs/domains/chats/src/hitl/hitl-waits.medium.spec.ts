import { entitle } from '@aps/billing/testing';
import { Maintenance } from '@aps/platform/maintenance';
import { Outbox } from '@aps/platform/outbox';
import type { Answer } from '@aps/platform/testing';
import { defineTool, ToolCatalog } from '@aps/tools';
import { sql } from '@aps/platform/testing';
import { LeaseEnded } from '@aps/platform/runs';
import { z } from 'zod';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';
import { ToolStepRunner } from '../turns/tool-step';
import { TurnEndings } from '../turns/turn-endings';
import { HitlService } from './hitl.service';

type Chat = Answer['body'];
const QUESTION = { name: 'ask_human', arguments: { kind: 'question', prompt: 'Well?' } };
const escalate = (more: Record<string, unknown>) => ({
  name: 'record_decision',
  arguments: { kind: 'escalate', summary: 'Charge them', basis: 'Over 100 needs a human', rationale: 'It is 250', ...more },
});
const CHARGE = { tool_slug: 'con_bank.charge', arguments: { amount: 250 } };
const toolResults = (chat: Chat): string[] =>
  chat.messages.filter((m: { role: string }) => m.role === 'tool').map((m: { content: string }) => m.content);

describe('turns that wait for humans', () => {
  const app = chatsService();
  let org: TestOrg;
  let path: string;
  /** Calls that have gone out, by what makes them the same. */
  const wired: [key: string, args: object][] = [];

  beforeAll(async () => {
    org = await app.org({ allowed_tools: ['con:bank'] });
    path = `/api/orgs/${org.id}/hitl-requests`;
    await app.db.execute(sql('CREATE TABLE charges (chat_id uuid, arguments jsonb)'));
    get(ToolCatalog).register(
      defineTool({
        slug: 'con_bank.charge',
        name: 'con_bank_charge',
        description: 'Charges',
        scope: 'con:bank',
        accessLevel: 'destructive',
        parameters: z.object({ amount: z.number().positive(), memo: z.string().optional() }),
        async run(tx, args, { chatId }) {
          await tx.execute(sql('INSERT INTO charges VALUES ($1, $2)'), [chatId, JSON.stringify(args)]);
          if (args.memo === 'fail') throw new Error('The bank is closed');
          return { kind: 'result', content: `charged ${args.amount}` };
        },
      }),
      defineTool({
        slug: 'con_bank.wire',
        name: 'con_bank_wire',
        description: 'Wires',
        scope: 'con:bank',
        accessLevel: 'destructive',
        hints: { destructiveHint: true, idempotentHint: true },
        parameters: z.object({ amount: z.number() }),
        callOut: (args, { idempotencyKey }) => {
          wired.push([idempotencyKey, args]);
          if (args.amount < 0) throw new Error('The bank is closed');
          return Promise.resolve({ kind: 'result', content: `wired ${args.amount}` });
        },
      }),
      defineTool({
        slug: 'con_bank.refund',
        name: 'con_bank_refund',
        description: 'Refunds',
        scope: 'con:bank',
        accessLevel: 'write',
        decisionMode: 'write',
        parameters: z.object({ amount: z.number() }),
        async run(tx, args, { chatId }) {
          await tx.execute(sql('INSERT INTO charges VALUES ($1, $2)'), [chatId, JSON.stringify(args)]);
          return { kind: 'result', content: `refunded ${args.amount}` };
        },
      }),
      defineTool({
        slug: 'con_gold.sell',
        name: 'con_gold_sell',
        description: 'Sells',
        scope: 'con:gold',
        accessLevel: 'write',
        parameters: z.object({}),
        run: () => Promise.resolve({ kind: 'result', content: 'sold' }),
      }),
    );
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { hitl_routing: true });
  });

  const get = <T>(type: new (...args: never[]) => T): T => app.get(type);
  const rows = <R = Record<string, unknown>>(text: string, ...values: unknown[]) => app.db.query(sql<R>(text), values);
  const answer = (id: string, body: unknown) => app.call('POST', `${path}/${id}/answer`, { as: org.owner, body });
  const request = async (id: string) => (await app.call('GET', `${path}/${id}`, { as: org.owner })).body;
  const requestsOf = (chat: string) =>
    rows<{ id: string; status: string }>('SELECT id, status FROM hitl_requests WHERE chat_id = $1 ORDER BY id', chat);
  const charges = async (chat: string) =>
    (await rows<{ arguments: unknown }>('SELECT arguments FROM charges WHERE chat_id = $1', chat)).map((c) => c.arguments);
  const eventsOf = (chat: string) =>
    rows<{ type: string; data: Record<string, unknown> }>(`SELECT type, data FROM events WHERE topic = 'chat:' || $1 ORDER BY seq`, chat);
  /** A chat that waits for the answers to these calls of one step. */
  const waiting = async (...calls: Record<string, unknown>[]) => {
    const chat = await app.chat(org);
    await app.send(org, chat, script({ tool_calls: calls }, { text: 'done' }));
    await app.until(org, chat, (c) => c.status === 'PAUSED');
    const [{ id }] = await requestsOf(chat);
    return { chat, id };
  };
  /** Lets the next call of a method of the runner of calls do something else. */
  const once = (
    method: 'completeWait' | 'inOwnedTransaction' | 'beginWait',
    instead: (original: (...args: unknown[]) => Promise<unknown>, args: unknown[]) => Promise<unknown>,
  ) => {
    const steps = get(ToolStepRunner) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const original = steps[method].bind(steps);
    return jest.spyOn(steps, method).mockImplementationOnce((...args) => instead(original, args));
  };

  describe('an escalated call', () => {
    it('runs exactly as it was stored when it is approved', async () => {
      const { chat, id } = await waiting(escalate(CHARGE));
      expect(await request(id)).toMatchObject({
        kind: 'approval',
        prompt: 'Charge them\n\nRule: Over 100 needs a human\n\nIt is 250',
        tool_call: { id: expect.any(String), tool_slug: 'con_bank.charge', arguments: { amount: 250 }, access_level: 'destructive' },
      });
      expect(await charges(chat)).toEqual([]);
      expect((await answer(id, { decision: 'approve' })).body).toMatchObject({ resumed: true });
      expect(toolResults(await app.settled(org, chat, 1))).toEqual(['charged 250']);
      expect(await charges(chat)).toEqual([{ amount: 250 }]);
      expect(await rows('SELECT kind, tool_slug FROM decisions WHERE chat_id = $1', chat)).toEqual([
        { kind: 'escalate', tool_slug: 'con_bank.charge' },
      ]);
      expect(await rows('SELECT metadata FROM audit_log WHERE target_id = $1', id)).toEqual([
        { metadata: { decision: 'approve', chat_id: chat, tool_slug: 'con_bank.charge' } },
      ]);
    });

    it('runs once when the worker dies before it, and when it dies in the commit that went through', async () => {
      const { chat, id } = await waiting(escalate(CHARGE));
      const died = new Promise<void>((resolve) => {
        once('completeWait', () => {
          resolve();
          once('inOwnedTransaction', async (original, args) => {
            await original(...args);
            throw new Error('Connection terminated unexpectedly');
          });
          return Promise.reject(new LeaseEnded('lost'));
        });
      });
      await answer(id, { decision: 'approve' });
      await died;
      await app.expireLease(chat);
      expect(toolResults(await app.settled(org, chat, 1))).toEqual(['charged 250']);
      expect(await charges(chat)).toEqual([{ amount: 250 }]);
    });

    it('that goes out is made when it is approved, and again under the same key when the worker dies before it is noted', async () => {
      const wire = (amount: number) => escalate({ tool_slug: 'con_bank.wire', arguments: { amount } });
      const [dying, failing] = [await waiting(wire(5)), await waiting(wire(-5))];
      expect(wired).toEqual([]);
      const died = new Promise<void>((resolve) => {
        once('inOwnedTransaction', async (original, args) => {
          const read = await original(...args);
          once('inOwnedTransaction', () => {
            resolve();
            return Promise.reject(new LeaseEnded('lost'));
          });
          return read;
        });
      });
      await answer(dying.id, { decision: 'approve', note: 'Do it' });
      await died;
      await app.expireLease(dying.chat);
      expect(toolResults(await app.settled(org, dying.chat, 1))).toEqual(['A human approved this and says: Do it\n\nwired 5']);
      expect(wired).toEqual([wired[0], wired[0]]);
      await answer(failing.id, { decision: 'approve' });
      expect(toolResults(await app.settled(org, failing.chat, 1))).toEqual([
        'The approved call failed on our side, and may have had an effect.',
      ]);
    });

    it('runs although the queue could not be told of the answer', async () => {
      const { chat, id } = await waiting(escalate(CHARGE));
      jest.spyOn(get(Outbox), 'publish').mockRejectedValueOnce(new Error('Redis is away'));
      expect(await answer(id, { decision: 'approve' })).toMatchObject({ status: 200, body: { resumed: true } });
      await app.settled(org, chat, 1);
      expect(await charges(chat)).toEqual([{ amount: 250 }]);
    });

    it('runs with the arguments that a human wrote, if its tool takes them', async () => {
      const [good, bad] = [await waiting(escalate(CHARGE)), await waiting(escalate(CHARGE))];
      await answer(good.id, { decision: 'edit', edited_arguments: { amount: 99, memo: 'less' }, note: 'too much' });
      await answer(bad.id, { decision: 'edit', edited_arguments: { amount: -1 } });
      const [told] = toolResults(await app.settled(org, good.chat, 1));
      expect(told).toBe(
        'A human approved this with other arguments: {"memo":"less","amount":99}\nA human approved this and says: too much\n\ncharged 99',
      );
      expect(await charges(good.chat)).toEqual([{ amount: 99, memo: 'less' }]);
      expect(await request(good.id)).toMatchObject({
        tool_call: { arguments: { amount: 250 } },
        answer: { decision: 'edit', edited_arguments: { amount: 99, memo: 'less' } },
      });
      expect(toolResults(await app.settled(org, bad.chat, 1))).toEqual([
        expect.stringMatching(/arguments of con_bank_charge are not valid. amount/),
      ]);
      expect(await charges(bad.chat)).toEqual([]);
    });

    describe('is not made beside its decision, although an earlier one would have it done,', () => {
      const refund = (amount: number) => ({ name: 'con_bank_refund', arguments: { amount } });
      const decide = (kind: string, amount: unknown, basis = 'Below 100') => ({
        name: 'record_decision',
        arguments: { kind, summary: 'Refund', basis, tool_slug: 'con_bank.refund', arguments: { amount } },
      });
      const byTool = {
        name: 'record_decision',
        arguments: { kind: 'escalate', summary: 'Refund', basis: 'Below 100', tool_slug: 'con_bank.refund' },
      };
      const acted = { tool_calls: [decide('act', 20), refund(20)] };
      const REFUSED = expect.stringMatching(/^con_bank_refund was not run: it needs a recorded decision/);
      const kinds = async (chat: string) =>
        (await rows<{ kind: string }>('SELECT kind FROM decisions WHERE chat_id = $1 ORDER BY id', chat)).map(({ kind }) => kind);

      it.each([
        [true, 'behind it', [decide('escalate', 500), refund(500)]],
        [true, 'before it', [refund(500), decide('escalate', 500)]],
        [false, 'behind it', [decide('escalate', 500), refund(500)]],
        [false, 'before it, named by the tool alone', [refund(500), byTool]],
      ])('whether or not humans are asked (%s), %s', async (asks, _where, tool_calls) => {
        await entitle(app, { hitl_routing: asks });
        const chat = await app.chat(org);
        await app.send(org, chat, script(acted, { tool_calls }, { text: 'done' }));
        if (asks) {
          await app.until(org, chat, (c) => c.status === 'PAUSED');
          expect(await charges(chat)).toEqual([{ amount: 20 }]);
          await answer((await requestsOf(chat))[0].id, { decision: 'approve' });
        }
        const [, , beside, handedUp] = toolResults(await app.settled(org, chat, 1));
        expect([handedUp, beside]).toEqual([asks ? 'refunded 500' : expect.stringContaining('nobody is asked'), REFUSED]);
        expect(await charges(chat)).toEqual([{ amount: 20 }, ...(asks ? [{ amount: 500 }] : [])]);
      });

      it('nor where that cannot be recorded, but another call before it is', async () => {
        const chat = await app.chat(org);
        const [unfit, unparsed] = [decide('escalate', 'x'), decide('escalate', 500, 'x'.repeat(501))];
        const answers = [
          [refund(1), unfit, refund(500)],
          [unparsed, refund(500)],
        ].map((tool_calls) => ({ tool_calls }));
        await app.send(org, chat, script(acted, ...answers, { text: 'done' }));
        const [, , ...results] = toolResults(await app.settled(org, chat, 1));
        expect(results.filter((result) => result.startsWith('con_bank_refund'))).toEqual([REFUSED, REFUSED]);
        expect([await charges(chat), await kinds(chat)]).toEqual([[{ amount: 20 }, { amount: 1 }], ['act']]);
      });

      it('nor where a message has come, which withdraws the question and leaves the decision', async () => {
        const chat = await app.chat(org);
        const held = script(acted, { delay_ms: HELD, tool_calls: [decide('escalate', 500), QUESTION, refund(500)] }, { text: 'done' });
        await app.send(org, chat, held);
        await app.until(org, chat, (c) => toolResults(c).length === 2);
        expect(await app.send(org, chat, 'are you there?')).toMatchObject({ status: 202, body: { queued: true } });
        app.letGo(held);
        const [, , ...results] = toolResults(await app.settled(org, chat, 2));
        const interrupted = '{"status":"interrupted_by_message"}';
        expect(results).toEqual([REFUSED, interrupted, interrupted]);
        expect([await charges(chat), await kinds(chat)]).toEqual([[{ amount: 20 }], ['act', 'escalate']]);
        expect((await requestsOf(chat)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
        const told = (await eventsOf(chat)).map(({ type }) => type).filter((type) => /^(decision|hitl)_/.test(type));
        expect(told.slice(1)).toEqual(['decision_recorded', 'hitl_requested', 'hitl_resolved', 'hitl_requested', 'hitl_resolved']);
      });

      it('nor by the worker that comes after one which has died between the two', async () => {
        const chat = await app.chat(org);
        const died = new Promise<void>((resolve) => {
          const steps = get(ToolStepRunner) as unknown as { make: (...args: unknown[]) => Promise<void> };
          const original = steps.make.bind(steps);
          let made = 0;
          jest.spyOn(steps, 'make').mockImplementation((...args) => {
            // The second of the second answer, which is made after what was refused.
            if (++made !== 4) return original(...args);
            resolve();
            return Promise.reject(new LeaseEnded('lost'));
          });
        });
        await app.send(org, chat, script(acted, { tool_calls: [decide('escalate', 'x', 'x'.repeat(501)), refund(500)] }, { text: 'done' }));
        await died;
        expect(toolResults((await app.read(org, chat)).body)).toEqual([
          expect.stringContaining('recorded'),
          'refunded 20',
          expect.stringContaining('basis'),
        ]);
        await app.expireLease(chat);
        expect(toolResults(await app.settled(org, chat, 1)).at(-1)).toEqual(REFUSED);
        expect(await charges(chat)).toEqual([{ amount: 20 }]);
      });
    });

    it('does not run when it is refused, and its agent is told', async () => {
      const { chat, id } = await waiting(escalate(CHARGE));
      await answer(id, { decision: 'reject', note: 'Ask them first' });
      expect(toolResults(await app.settled(org, chat, 1)).map((c) => JSON.parse(c) as unknown)).toEqual([
        { status: 'answered', decision: 'reject', message: 'con_bank.charge was not run: a human refused it.', note: 'Ask them first' },
      ]);
      expect(await charges(chat)).toEqual([]);
    });

    it('leaves nothing behind when its tool fails, and does not run without the grant', async () => {
      const [failing, switchedOff] = [
        await waiting(escalate({ ...CHARGE, arguments: { amount: 1, memo: 'fail' } })),
        await waiting(escalate(CHARGE)),
      ];
      await rows(`UPDATE chats SET enabled_scopes = '{}' WHERE id = $1`, switchedOff.chat);
      for (const { id } of [failing, switchedOff]) await answer(id, { decision: 'approve' });
      expect(toolResults(await app.settled(org, failing.chat, 1))).toEqual(['The approved call failed on our side and had no effect.']);
      expect(toolResults(await app.settled(org, switchedOff.chat, 1))).toEqual([
        'There is no tool con_bank.charge, or you may not use it.',
      ]);
      for (const { chat } of [failing, switchedOff]) expect(await charges(chat)).toEqual([]);
    });

    it('is no call where the agent has no such tool', async () => {
      const { chat, id } = await waiting(escalate({ tool_slug: 'con_gold_sell', arguments: {} }));
      await answer(id, { decision: 'approve' });
      expect(toolResults(await app.settled(org, chat, 1))).toEqual(['{"status":"answered","decision":"approve"}']);
    });

    it('is not asked for with arguments that its tool refuses', async () => {
      const chat = await app.chat(org);
      await app.send(org, chat, script({ tool_calls: [escalate({ ...CHARGE, arguments: { amount: 'much' } })] }, { text: 'oh' }));
      expect(toolResults(await app.settled(org, chat, 1))).toEqual([expect.stringMatching(/amount.*Nothing was recorded/)]);
      expect([await requestsOf(chat), await rows('SELECT id FROM decisions WHERE chat_id = $1', chat)]).toEqual([[], []]);
    });

    it('is only recorded where the plan routes nothing to humans', async () => {
      await entitle(app, { hitl_routing: false });
      const chat = await app.chat(org);
      await app.send(org, chat, script({ tool_calls: [escalate(CHARGE)] }, { text: 'left' }));
      expect(toolResults(await app.settled(org, chat, 1))).toEqual([expect.stringContaining('nobody is asked')]);
      expect([await requestsOf(chat), await charges(chat)]).toEqual([[], []]);
      expect(await rows('SELECT kind FROM decisions WHERE chat_id = $1', chat)).toEqual([{ kind: 'escalate' }]);
    });
  });

  it('record what waits for nobody before the calls of the same step, and ask after them', async () => {
    const { chat, id } = await waiting(
      escalate({}),
      { name: 'record_decision', arguments: { kind: 'act', summary: 'Go', basis: 'Rule' } },
      { name: 'con_bank_charge', arguments: { amount: 1 } },
    );
    expect(toolResults((await app.read(org, chat)).body)).toEqual([expect.stringContaining('recorded'), 'charged 1']);
    await answer(id, { decision: 'approve' });
    expect(toolResults(await app.settled(org, chat, 1)).at(-1)).toBe('{"status":"answered","decision":"approve"}');
  });

  it('never pause when the answer comes first', async () => {
    const chat = await app.chat(org);
    let answered: Answer | undefined;
    once('beginWait', async (original, args) => {
      answered = await answer((await requestsOf(chat))[0].id, { answer: 'early' });
      return original(...args);
    });
    await app.send(org, chat, script({ tool_calls: [QUESTION] }, { text: 'done' }));
    expect(toolResults(await app.settled(org, chat, 1))).toEqual(['{"status":"answered","answer":"early"}']);
    expect(answered).toMatchObject({ status: 200, body: { resumed: true } });
    expect((await eventsOf(chat)).filter((e) => e.data.to === 'PAUSED')).toEqual([]);
  });

  it('go on when the answer comes while they begin to wait', async () => {
    const steps = get(ToolStepRunner) as unknown as { beginWait: (...args: { claim: { chat_id: string } }[]) => Promise<unknown> };
    const original = steps.beginWait.bind(steps);
    const answers: Promise<Answer>[] = [];
    jest.spyOn(steps, 'beginWait').mockImplementation(async (...args) => {
      const [{ id }] = await requestsOf(args[0].claim.chat_id);
      answers.push(answer(id, { answer: 'now' }));
      // Some come a little sooner, some a little later.
      await new Promise((r) => setTimeout(r, answers.length * 2));
      return original(...args);
    });
    const chats = await Promise.all(Array.from({ length: 12 }, () => app.chat(org)));
    await Promise.all(chats.map((chat) => app.send(org, chat, script({ tool_calls: [QUESTION] }, { text: 'done' }))));
    for (const chat of chats) expect(toolResults(await app.settled(org, chat, 1))).toEqual(['{"status":"answered","answer":"now"}']);
    expect((await Promise.all(answers)).map((a) => [a.status, a.body.resumed])).toEqual(answers.map(() => [200, true]));
  });

  it('are revived by a message, which withdraws the question', async () => {
    const { chat, id } = await waiting(QUESTION);
    expect((await app.send(org, chat, 'never mind')).status).toBe(202);
    const body = await app.until(org, chat, (c) => c.messages.at(-1).content === 'You said: never mind');
    expect(toolResults(body)).toEqual(['{"status":"interrupted_by_message"}']);
    expect(await request(id)).toMatchObject({ status: 'cancelled', answer: null });
    expect((await eventsOf(chat)).filter((e) => e.type === 'hitl_resolved').map((e) => e.data)).toMatchObject([
      { request_id: id, status: 'cancelled', reason: 'message' },
    ]);
    expect(await answer(id, { answer: 'late' })).toMatchObject({
      status: 409,
      body: { code: 'already_resolved', context: { status: 'cancelled' } },
    });
  });

  it('keep what was answered already when a message ends the wait for the rest', async () => {
    const { chat } = await waiting(QUESTION, escalate(CHARGE), QUESTION);
    const [first, charge, last] = await requestsOf(chat);
    expect((await answer(first.id, { answer: 'the blue one' })).body).toMatchObject({ resumed: false });
    expect((await answer(charge.id, { decision: 'approve' })).body).toMatchObject({ resumed: false });
    await app.send(org, chat, 'never mind');
    const body = await app.until(org, chat, (c) => c.messages.at(-1).content === 'You said: never mind');
    const told = (await eventsOf(chat)).filter((e) => e.type === 'tool_result').map((e) => e.data);
    expect(told.map((e) => e.content)).toEqual(toolResults(body));
    expect(told.map((e) => [e.name, e.status])).toEqual([
      ['ask_human', 'done'],
      ['record_decision', 'done'],
      ['ask_human', 'failed'],
    ]);
    expect(toolResults(body).map((r) => JSON.parse(r) as unknown)).toEqual([
      { status: 'answered', answer: 'the blue one' },
      {
        status: 'interrupted_by_message',
        decision: 'approve',
        message: expect.stringContaining('con_bank.charge was approved, but not run'),
      },
      { status: 'interrupted_by_message' },
    ]);
    expect(await charges(chat)).toEqual([]);
    expect([await request(first.id), await request(charge.id), await request(last.id)].map((r) => r.status)).toEqual([
      'answered',
      'answered',
      'cancelled',
    ]);
  });

  it('are answered or revived, never both', async () => {
    const chats = await Promise.all(Array.from({ length: 8 }, () => waiting(QUESTION)));
    const outcomes = await Promise.all(
      chats.map(({ chat, id }) => Promise.all([answer(id, { answer: 'here' }), app.send(org, chat, 'there')])),
    );
    for (const [i, { chat, id }] of chats.entries()) {
      const [answered, sent] = outcomes[i];
      expect(sent.status).toBe(202);
      const body = await app.until(org, chat, (c) => c.messages.at(-1).content === 'You said: there');
      expect([answered.status, (await request(id)).status, toolResults(body)]).toEqual(
        answered.status === 200
          ? [200, 'answered', ['{"status":"answered","answer":"here"}']]
          : [409, 'cancelled', ['{"status":"interrupted_by_message"}']],
      );
    }
  });

  it('keep waiting when somebody asks them to stop', async () => {
    const { chat, id } = await waiting(QUESTION);
    const stopped = await app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: {} });
    expect(stopped).toMatchObject({ status: 200, body: { status: 'PAUSED', stopped: false, cleared_pause: null } });
    expect((await answer(id, { answer: 'on' })).body).toMatchObject({ resumed: true });
    await app.settled(org, chat, 1);
  });

  it('stay where they are when their archived chat is answered', async () => {
    const { chat, id } = await waiting(QUESTION);
    expect((await app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { archived: true } })).status).toBe(200);
    expect((await app.read(org, chat)).body).toMatchObject({ status: 'ARCHIVED', pending_hitl_count: 1 });
    expect(await answer(id, { answer: 'too late' })).toMatchObject({
      status: 200,
      body: { status: 'answered', answer: { answer: 'too late' }, resumed: false },
    });
    expect((await app.read(org, chat)).body).toMatchObject({ status: 'ARCHIVED', pending_hitl_count: 0 });
    expect(await rows(`SELECT o.id FROM outbox o JOIN turns t ON t.id = o.id WHERE t.chat_id = $1`, chat)).toEqual([]);
  });

  it('take their questions with them when their chat is terminated or deleted', async () => {
    const [ended, deleted] = [await waiting(QUESTION, QUESTION), await waiting(QUESTION)];
    const ids = (await requestsOf(ended.chat)).map((r) => r.id);
    expect((await app.call('POST', `${org.path}/${ended.chat}/terminate`, { as: org.owner, body: {} })).body).toMatchObject({
      terminated: true,
      cancelled_hitl_request_ids: ids,
    });
    expect((await eventsOf(ended.chat)).filter((e) => e.type === 'hitl_resolved').map((e) => [e.data.request_id, e.data.reason])).toEqual(
      ids.map((id) => [id, 'terminated']),
    );
    expect(await answer(ended.id, { answer: 'x' })).toMatchObject({ status: 409 });
    expect((await app.call('DELETE', `${org.path}/${deleted.chat}`, { as: org.owner })).status).toBe(204);
    expect((await requestsOf(deleted.chat)).map((r) => r.status)).toEqual(['cancelled']);
    expect(await answer(deleted.id, { answer: 'x' })).toMatchObject({ status: 404 });
  });

  it('take back their questions when they fail before they wait', async () => {
    const chat = await app.chat(org);
    const steps = get(ToolStepRunner) as unknown as { beginWait: () => Promise<unknown> };
    jest.spyOn(steps, 'beginWait').mockRejectedValue(new Error('Out of memory'));
    await app.send(org, chat, script({ tool_calls: [QUESTION] }, { text: 'done' }));
    const body = await app.until(org, chat, (c) => c.status === 'ERRORED');
    expect(body).toMatchObject({ error: { code: 'internal' }, pending_hitl_count: 0 });
    expect((await requestsOf(chat)).map((r) => r.status)).toEqual(['cancelled']);
  });

  describe('for too long', () => {
    const overdue = (chat: string) =>
      app.db.execute(sql(`UPDATE hitl_requests SET expires_at = now() - interval '1 second' WHERE chat_id = $1`), [chat]);

    it('are given up with their chat, once, whoever finds them', async () => {
      const chats = await Promise.all([waiting(QUESTION), waiting(QUESTION, QUESTION), waiting(QUESTION)]);
      const young = await waiting(QUESTION);
      // Of two that were asked together only one needs to be due.
      await app.db.execute(sql(`UPDATE hitl_requests SET expires_at = now() - interval '1 second' WHERE id = ANY($1)`), [
        chats.map((c) => c.id),
      ]);
      const hitl = get(HitlService);
      const found = await Promise.all([hitl.expire(100), hitl.expire(100), hitl.expire(2)]);
      expect(found.reduce((a, b) => a + b)).toBe(3);
      expect(await hitl.expire(100)).toBe(0);
      for (const { chat, id } of chats) {
        expect((await app.read(org, chat)).body).toMatchObject({
          status: 'ABANDONED',
          stop_reason: 'hitl_expired',
          pause: null,
          pending_hitl_count: 0,
        });
        const requests = await requestsOf(chat);
        expect(requests.map((r) => r.status)).toEqual(requests.map(() => 'expired'));
        expect(await rows('SELECT status FROM turns WHERE chat_id = $1', chat)).toEqual([{ status: 'stopped' }]);
        const events = (await eventsOf(chat)).slice(-requests.length - 1);
        expect(events.map((e) => [e.type, e.data.status ?? e.data.to])).toEqual([
          ...requests.map(() => ['hitl_resolved', 'expired']),
          ['status_changed', 'ABANDONED'],
        ]);
        expect(await answer(id, { answer: 'x' })).toMatchObject({ status: 409, body: { context: { status: 'expired' } } });
      }
      expect((await app.read(org, young.chat)).body).toMatchObject({ status: 'PAUSED' });
      expect(await app.send(org, chats[0].chat, 'hello?')).toMatchObject({
        status: 202,
        body: { dispatched: false, reason: 'chat_abandoned' },
      });
    });

    it('are given up past one that cannot be, which is told', async () => {
      const [stuck, next] = await Promise.all([waiting(QUESTION), waiting(QUESTION)]);
      const endings = get(TurnEndings);
      const end = endings.end.bind(endings);
      const failing = jest
        .spyOn(endings, 'end')
        .mockImplementation((tx, turn, ...more) =>
          turn.chat_id === stuck.chat ? Promise.reject(new Error('It cannot end')) : end(tx, turn, ...more),
        );
      await overdue(stuck.chat);
      await overdue(next.chat);
      await expect(get(HitlService).expire(100)).rejects.toThrow('It cannot end');
      expect((await requestsOf(next.chat)).map((r) => r.status)).toEqual(['expired']);
      failing.mockRestore();
      await get(HitlService).expire(100);
      expect((await requestsOf(stuck.chat)).map((r) => r.status)).toEqual(['expired']);
    });

    it('are found by the maintenance of the workers', async () => {
      const { chat } = await waiting(QUESTION);
      await overdue(chat);
      await get(Maintenance).runAll();
      expect((await app.read(org, chat)).body.status).toBe('ABANDONED');
    });

    it('are answered or given up, never both', async () => {
      const chats = await Promise.all(Array.from({ length: 8 }, () => waiting(QUESTION)));
      for (const { chat } of chats) await overdue(chat);
      const hitl = get(HitlService);
      const [answers] = await Promise.all([
        Promise.all(chats.map(({ id }) => answer(id, { answer: 'just in time' }))),
        hitl.expire(100),
        hitl.expire(100),
      ]);
      for (const [i, { chat }] of chats.entries()) {
        const body = await app.until(org, chat, (c) => c.status === 'ABANDONED' || c.messages.at(-1).content === 'done');
        expect([answers[i].status, body.status]).toEqual(answers[i].status === 200 ? [200, 'ACTIVE'] : [409, 'ABANDONED']);
      }
    });

    it('are told so when they have not begun to wait, and an archived chat stays archived', async () => {
      const chat = await app.chat(org);
      once('beginWait', async (original, args) => {
        await overdue(chat);
        await get(HitlService).expire(100);
        return original(...args);
      });
      await app.send(org, chat, script({ tool_calls: [QUESTION] }, { text: 'done' }));
      expect(toolResults(await app.settled(org, chat, 1))).toEqual([expect.stringContaining('"status":"expired"')]);
      const archived = await waiting(QUESTION);
      await app.call('PATCH', `${org.path}/${archived.chat}`, { as: org.owner, body: { archived: true } });
      await overdue(archived.chat);
      await get(HitlService).expire(100);
      expect((await app.read(org, archived.chat)).body).toMatchObject({
        status: 'ARCHIVED',
        stop_reason: 'user_archived',
        pending_hitl_count: 0,
      });
    });
  });
});
