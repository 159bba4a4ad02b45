import { defineTool, ToolCatalog } from '@aps/tools';
import { sql } from '@aps/platform/testing';
import { z } from 'zod';
import { chatsService, script, type TestOrg } from '../testing/chats';

/** A tool as a connection brings it, whose calls need a recorded decision. */
const TOOL = 'con_bank.transfer';

describe('the gate of decisions', () => {
  const app = chatsService();
  let org: TestOrg;
  const ran: unknown[] = [];

  beforeAll(async () => {
    org = await app.org({ allowed_tools: ['con:bank'] });
    const moved = (args: unknown) => {
      ran.push(args);
      return Promise.resolve({ kind: 'result' as const, content: 'moved' });
    };
    const tool = {
      description: 'Moves money',
      scope: 'con:bank',
      accessLevel: 'destructive' as const,
      decisionMode: 'write' as const,
      parameters: z.object({ amount: z.number() }),
    };
    app
      .get(ToolCatalog)
      .register(
        defineTool({ ...tool, slug: TOOL, name: 'con_bank_transfer', run: (_tx, args) => moved(args) }),
        defineTool({ ...tool, slug: 'con_bank.wire', name: 'con_bank_wire', callOut: moved }),
      );
  });
  beforeEach(() => ran.splice(0));

  const transfer = { name: 'con_bank_transfer', arguments: { amount: 5 } };
  const decide = (kind: string, tool = TOOL) => ({
    name: 'record_decision',
    arguments: { kind, summary: 's', basis: 'rule 1', tool_slug: tool },
  });

  async function results(...steps: { name: string; arguments: unknown }[][]): Promise<string[]> {
    const chat = await app.chat(org);
    await app.send(org, chat, script(...steps.map((tool_calls) => ({ tool_calls })), { text: 'done' }));
    const { messages } = await app.settled(org, chat, 1);
    return (messages as { role: string; tool_name: string | null; content: string }[])
      .filter((m) => m.tool_name?.startsWith('con_bank'))
      .map((m) => m.content);
  }

  it('keeps a covered call from running, and says what is missing', async () => {
    const [refused] = await results([transfer]);
    expect(refused).toContain('was not run: it needs a recorded decision');
    expect(refused).toContain(TOOL);
    expect(ran).toEqual([]);
  });

  it('lets it run after a decision of the same turn to act, and only then', async () => {
    expect(await results([decide('act')], [transfer])).toEqual(['moved']);
    expect(await results([decide('act', 'con_bank.other')], [transfer])).toEqual([expect.stringContaining('was not run')]);
    expect(await results([decide('act')], [decide('no_act')], [transfer])).toEqual([expect.stringContaining('was not run')]);
    expect(ran).toEqual([{ amount: 5 }]);
  });

  it('stands before calls that go out, too', async () => {
    const wire = { name: 'con_bank_wire', arguments: { amount: 6 } };
    expect(await results([wire], [decide('act', 'con_bank.wire')], [wire])).toEqual([expect.stringContaining('was not run'), 'moved']);
    expect(ran).toEqual([{ amount: 6 }]);
  });

  it('asks for nothing where the decision log is off', async () => {
    const fresh = await app.org({ allowed_tools: ['con:bank'] });
    await app.db.execute(sql(`INSERT INTO org_ai_settings (org_id, decision_log_enabled) VALUES ($1, false)`), [fresh.id]);
    org = fresh;
    expect(await results([transfer])).toEqual(['moved']);
  });
});
