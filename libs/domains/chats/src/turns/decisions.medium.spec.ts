import { entitle } from '@aps/billing/testing';
import { OrgScope } from '@aps/guards';
import { OrgRuntimeService } from '@aps/inference';
import { sql } from '@aps/platform/testing';
import { chatsService, script, type TestOrg } from '../testing/chats';

const app = chatsService();
let org: TestOrg;
beforeEach(async () => {
  org = await app.org();
});

const record = (over: Record<string, unknown> = {}) => ({
  name: 'record_decision',
  arguments: { kind: 'act', summary: 'Refund it', basis: 'Rule 1', ...over },
});
const stored = (chat: string) =>
  app.db.query(
    sql<{ id: string; turn_id: string; agent_revision_id: string }>(
      'SELECT id, turn_id, agent_revision_id FROM decisions WHERE chat_id = $1 ORDER BY id',
    ),
    [chat],
  );

/** Runs a turn that makes these calls, and gives what they came to. */
async function results(...toolCalls: Record<string, unknown>[]): Promise<{ chat: string; tool: string[] }> {
  const chat = await app.chat(org);
  await app.send(org, chat, script({ tool_calls: toolCalls }, { text: 'done' }));
  const { messages } = await app.settled(org, chat, 1);
  return { chat, tool: messages.filter((m: { role: string }) => m.role === 'tool').map((m: { content: string }) => m.content) };
}

describe('a turn where the decision log is on', () => {
  it('records what its agent decides, with the result, and tells the readers in their order', async () => {
    const { chat, tool } = await results(record(), record({ kind: 'no_act', summary: 'Leave it' }));
    const rows = await stored(chat);
    expect(tool.map((t) => JSON.parse(t))).toEqual(rows.map(({ id }) => ({ decision_id: id, status: 'recorded' })));
    const [turn] = await app.db.query(sql<{ id: string }>('SELECT id FROM turns WHERE chat_id = $1'), [chat]);
    expect(rows.map((d) => d.turn_id)).toEqual([turn.id, turn.id]);
    const [{ agent_revision_id }] = await app.db.query(
      sql<{ agent_revision_id: string }>('SELECT agent_revision_id FROM chats WHERE id = $1'),
      [chat],
    );
    expect(rows.map((d) => d.agent_revision_id)).toEqual([agent_revision_id, agent_revision_id]);

    const stream = await app.stream(org, chat, { lastEventId: '0' });
    const frames = await stream.until((f) => f.event === 'status_changed' && f.data.data.to === 'ACTIVE');
    stream.close();
    const told = frames.filter((f) => f.event === 'tool_result' || f.event === 'decision_recorded');
    expect(told.map((f) => f.event)).toEqual(['tool_result', 'decision_recorded', 'tool_result', 'decision_recorded']);
    expect(told.filter((f) => f.event === 'decision_recorded').map((f) => [f.data.data.decision_id, f.data.data.summary])).toEqual([
      [rows[0].id, 'Refund it'],
      [rows[1].id, 'Leave it'],
    ]);
  });

  it('is told what is wrong with a decision, and goes on', async () => {
    const { chat, tool } = await results(record({ basis: ' ' }), record());
    expect(tool).toEqual([
      expect.stringContaining('The arguments of record_decision are not valid. basis'),
      expect.stringContaining('recorded'),
    ]);
    expect(await stored(chat)).toHaveLength(1);
  });
});

describe('a turn where it is off', () => {
  const off = async () => {
    const { chat, tool } = await results(record());
    expect(tool).toEqual(['There is no tool record_decision, or you may not use it.']);
    expect(await stored(chat)).toEqual([]);
  };

  it('records nothing, because the plan has no log', async () => {
    await entitle(app, { decision_log: false });
    await off();
    await entitle(app, { decision_log: true });
    expect(await stored((await results(record())).chat)).toHaveLength(1);
  });

  it('records nothing, because the organization has switched it off', async () => {
    await app.get(OrgRuntimeService).update(OrgScope.member(org.id, org.owner.id, 'OWNER'), { decision_log_enabled: false });
    await off();
  });
});
