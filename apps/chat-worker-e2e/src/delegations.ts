import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Chance } from '@aps/platform/testing';
import { script, withPlatform, type Platform } from '../../api-gateway-e2e/support';
import { check } from './invariants';
import { finish, type Work } from './turns';

const PARENTS = 10;

/** Two workers are killed in turns while parents begin, await and read their children. */
export async function delegatingWorkersKilled(chance: Chance): Promise<void> {
  await withPlatform({ apps: ['api-gateway', 'chat-worker', 'chat-worker:b'] }, async (platform) => {
    const { org_id, agent_id } = platform.demo;
    const scout = await platform.call('POST', `/api/orgs/${org_id}/agents`, { body: { name: 'Scout' } });
    expect(scout.status).toBe(201);
    expect(
      (await platform.call('PATCH', `/api/orgs/${org_id}/agents/${agent_id}?deploy=true`, { body: { child_agent_ids: [scout.body.id] } }))
        .status,
    ).toBe(200);

    const works = await Promise.all(Array.from({ length: PARENTS }, (_, i) => begin(platform, chance, scout.body.slug as string, i)));
    for (let i = 0; i < 6; i++) {
      await sleep(chance.between(200, 2_000));
      const worker = platform.app(i % 2 ? 'chat-worker' : 'chat-worker:b');
      await worker.kill();
      worker.spawn();
    }
    await finish(platform, works, 150_000);
    await check(platform, works);
    await eachChildRanOnce(platform, works);
  });
}

/** A chat whose agent has two others work for it, one of them in several steps, and then says so. */
async function begin(platform: Platform, chance: Chance, agent: string, i: number): Promise<Work> {
  const note = {
    tool_calls: [{ name: 'todo_write', arguments: { todos: [{ title: 'look', status: 'completed' }] } }],
    delay_ms: chance.between(50, 800),
  };
  const tasks = [
    script(note, { text: `found ${i}`, delay_ms: chance.between(50, 1_500) }),
    script({ text: `saw ${i}`, chunk_delay_ms: chance.between(50, 500) }),
  ];
  const answer = `both are back ${i}`;
  const chat = await platform.openChat();
  const message = script(
    { tool_calls: tasks.map((task) => ({ name: 'delegate_to_agent', arguments: { agent, task } })), delay_ms: chance.between(0, 500) },
    { text: answer, delay_ms: chance.between(0, 500) },
  );
  await platform.say(chat, message);
  return { chat, place: platform.home, replies: [answer], todos: [] };
}

async function eachChildRanOnce(platform: Platform, works: Work[]): Promise<void> {
  await platform.database(async (db) => {
    const rows = await db.query(
      sql(`SELECT w.parent_chat_id, count(*)::int AS children, count(DISTINCT t.id)::int AS turns, bool_and(w.status = 'finished' AND NOT w.waits AND w.result->>'status' = 'done') AS told
       FROM child_waits w JOIN turns t ON t.chat_id = w.child_chat_id WHERE w.parent_chat_id = ANY($1) GROUP BY w.parent_chat_id`),
      [works.map((w) => w.chat)],
    );
    expect(rows.map(({ parent_chat_id: _, ...row }) => row)).toEqual(Array(PARENTS).fill({ children: 2, turns: 2, told: true }));
  });
}
