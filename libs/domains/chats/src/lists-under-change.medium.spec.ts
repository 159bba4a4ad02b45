import {
  Agent,
  AUDIT_TALLY,
  CHAT_TALLY,
  Decision,
  DECISION_TALLY,
  foldOf,
  HITL_TALLY,
  HitlRequest,
  recountOf,
  type Tally,
} from '@aps/entities';
import { NO_CALLER } from '@aps/platform/database';
import { sql, type Answer, type Bearer } from '@aps/platform/testing';
import { aMember } from '@aps/orgs/testing';
import { random } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { chatsService } from './testing/chats';

/** `npm run certify` plays thousands; CERTIFY_SCHEDULES is their number, TEST_SEED the seed. */
const STEPS = Number(process.env.CERTIFY_SCHEDULES ?? 400);
const WRITERS = 10;
const TALLIED = [CHAT_TALLY, DECISION_TALLY, HITL_TALLY];

const app = chatsService();
/** Whether folders are at work, whatever becomes of the test. */
let folds = true;
afterEach(() => (folds = false));

const fold = (tally: Tally) => app.db.query(sql<{ n: number }>(foldOf(tally)), [7]);
/** What adds up to something, by what it is the sum of. */
const sums = async ({ table, by }: Tally) => {
  const names = Object.keys(by).join(', ');
  return app.db.query(sql(`SELECT ${names}, sum(n)::int AS n FROM ${table} GROUP BY ${names} HAVING sum(n) <> 0 ORDER BY ${names}`));
};

it('lists and totals are right while chats come, go, are shown and hidden, and what is in them changes; nobody sees what is a colleague’s', async () => {
  const org = await app.org();
  const lists = [org.path, `${org.path.replace(/\/chats$/, '')}/decisions`, `/api/orgs/${org.id}/hitl-requests`];
  const ask = (list: string, query: string, as: Bearer): Promise<Answer> => app.call('GET', list + query, { as });
  const people: Bearer[] = [org.owner, org.member, await aMember(app, org, 'MEMBER')];
  const { live_revision_id } = await app.db.manager.findOneByOrFail(Agent, { id: org.agentId });
  const seed = Number(process.env.TEST_SEED ?? 1);
  /** Chats that everyone may have seen at some time. */
  const shown = new Set<string>();
  const wrong: string[] = [];
  let left = STEPS;
  let over = false;

  const made = async (n: number, as: Bearer): Promise<string> => {
    const chat_id = await app.chat(org, { title: `of ${n}` }, as);
    const where = { org_id: org.id, chat_id, agent_id: org.agentId, turn_id: uuidv7(), tool_call_id: 'call' };
    await app.insert(Decision, { ...where, agent_revision_id: live_revision_id!, kind: 'act', summary: `of ${n}`, basis: 'Rule' });
    await app.insert(HitlRequest, { ...where, kind: 'question', prompt: `of ${n}`, expires_at: new Date() });
    return chat_id;
  };
  const write = async (n: number) => {
    const next = random(seed * 1_000 + n);
    const who = n % people.length;
    const as = people[who];
    const mine: string[] = [];
    while (left-- > 0) {
      const dice = next();
      const one = mine[Math.floor(next() * mine.length)];
      if (!one || dice < 0.3) mine.push(await made(who, as));
      else if (dice < 0.5) {
        shown.add(one);
        await app.call('PATCH', `${org.path}/${one}`, { as, body: { shared: true } });
      } else if (dice < 0.7) await app.call('PATCH', `${org.path}/${one}`, { as, body: { shared: false } });
      else if (dice < 0.8)
        await app.db.execute(sql(`UPDATE decisions SET review_status = 'agreed', archived_at = now() WHERE chat_id = $1`), [one]);
      else if (dice < 0.9) await app.db.execute(sql(`UPDATE hitl_requests SET status = 'answered' WHERE chat_id = $1`), [one]);
      else await app.call('DELETE', `${org.path}/${mine.splice(mine.indexOf(one), 1)[0]}`, { as });
    }
  };
  const read = async (who: number) => {
    while (!over)
      for (const list of lists) {
        const [all, page] = [(await ask(list, '', people[who])).body, (await ask(list, '?limit=5&offset=1', people[who])).body];
        for (const { id, chat_id = id, title, summary, prompt } of [...all.items, ...page.items])
          if ((title ?? summary ?? prompt) !== `of ${who}` && !shown.has(chat_id)) wrong.push(`${who} sees ${chat_id} in ${list}`);
        // Behind the last row the total is asked for by itself.
        if (page.items.length && page.items.length !== Math.min(5, page.total - 1))
          wrong.push(`${who} has ${page.items.length} rows of ${page.total} in ${list}`);
      }
  };
  const folding = async () => {
    while (folds) for (const tally of TALLIED) await fold(tally);
  };
  const reading = Promise.all(people.map((_, who) => read(who)));
  const folded = Promise.all([folding(), folding()]);
  await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n))).finally(() => (over = true));
  await reading;
  expect(wrong).toEqual([]);

  for (const list of lists)
    for (const as of people)
      for (const query of ['', ...(list.endsWith('/decisions') ? ['&archived=true', '&review_status=unreviewed'] : [])]) {
        const [{ total }, { items }] = [(await ask(list, `?limit=1${query}`, as)).body, (await ask(list, `?${query}`, as)).body];
        expect([list, query, total]).toEqual([list, query, items.length]);
      }
  for (const tally of TALLIED) {
    const kept = await sums(tally);
    await app.db.transaction(NO_CALLER, async (tx) => {
      for (const statement of recountOf(tally)) await tx.execute(sql(statement));
    });
    expect(await sums(tally)).toEqual(kept);
  }
  folds = false;
  await folded;
});

it('what is folded is one row for each sum, and none for nothing', async () => {
  for (const tally of [...TALLIED, AUDIT_TALLY]) {
    const before = await sums(tally);
    for (let n = 1; n > 0;) [{ n }] = await fold(tally);
    const [{ rows }] = await app.db.query(sql<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${tally.table}`));
    expect([await sums(tally), rows]).toEqual([before, before.length]);
  }
});
