import { Agent, Decision, HitlRequest, TALLIES } from '@aps/entities';
import { randomly, sql, type Answer, type Bearer } from '@aps/platform/testing';
import { aMember } from '@aps/orgs/testing';
import { foldTally, recountTally, sumsOf } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { chatsService } from './testing/chats';

/** `npm run certify` plays thousands; CERTIFY_SCHEDULES is their number, TEST_SEED the seed. */
const STEPS = Number(process.env.CERTIFY_SCHEDULES ?? 400);
const WRITERS = process.env.CERTIFY_SCHEDULES ? 50 : 10;

const app = chatsService();
/** Whether folders are at work, and those who are. */
let folds = true;
const folders: Promise<unknown>[] = [];
afterEach(async () => {
  folds = false;
  await Promise.all(folders);
});

type Listed = { id: string; basis: string; review_status: string; created_at: string };

/** Of decisions, newest first. In no order: times are rounded here. */
const groupedByHand = (decisions: Listed[]) =>
  [...new Set(decisions.map(({ basis }) => basis))].map((basis) => {
    const of = decisions.filter((decision) => decision.basis === basis);
    return expect.objectContaining({
      basis,
      count: of.length,
      unreviewed: of.filter((d) => d.review_status === 'unreviewed').length,
      latest_at: of
        .map((d) => d.created_at)
        .sort()
        .at(-1),
      sample_decision_ids: of.slice(0, 3).map(({ id }) => id),
    });
  });

it('lists and totals are right while chats come, go, are shown and hidden, and what is in them changes; nobody sees what is a colleague’s', async () => {
  const org = await app.org();
  const decisions = `${org.path.replace(/\/chats$/, '')}/decisions`;
  const groups = `${decisions}/groups`;
  const lists = [org.path, decisions, `/api/orgs/${org.id}/hitl-requests`];
  const ask = (list: string, query: string, as: Bearer): Promise<Answer> => app.call('GET', list + query, { as });
  const people: Bearer[] = [org.owner, org.member, await aMember(app, org, 'MEMBER')];
  const { live_revision_id } = await app.db.manager.findOneByOrFail(Agent, { id: org.agentId });
  const seed = Number(process.env.TEST_SEED ?? 1);
  /** Chats that everyone may have seen at some time. */
  const shown = new Set<string>();
  /** Chats by their decisions, and who began them. */
  const chatOf = new Map<string, string>();
  const ownerOf = new Map<string, number>();
  const wrong: string[] = [];
  let left = STEPS;
  let over = false;

  const made = async (n: number, as: Bearer): Promise<string> => {
    const chat_id = await app.chat(org, { title: `of ${n}` }, as);
    const where = { org_id: org.id, chat_id, agent_id: org.agentId, turn_id: uuidv7(), tool_call_id: 'call' };
    ownerOf.set(chat_id, n);
    for (const basis of ['Rule', chat_id]) {
      const what = { kind: 'act' as const, summary: `of ${n}`, basis, agent_revision_id: live_revision_id! };
      const id = uuidv7();
      chatOf.set(id, chat_id);
      await app.insert(Decision, { ...where, ...what, id, tool_call_id: basis });
    }
    await app.insert(HitlRequest, { ...where, kind: 'question', prompt: `of ${n}`, expires_at: new Date() });
    return chat_id;
  };
  const write = async (n: number) => {
    const next = randomly(seed * 1_000 + n);
    const who = n % people.length;
    const as = people[who];
    const mine: string[] = [];
    while (left-- > 0) {
      if (left === STEPS / 2) for (const tally of TALLIES) await recountTally(app.db, tally);
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
    const isHidden = (chatId: string) => ownerOf.has(chatId) && ownerOf.get(chatId) !== who && !shown.has(chatId);
    while (!over) {
      for (const list of lists) {
        const [all, page] = [(await ask(list, '', people[who])).body, (await ask(list, '?limit=5&offset=1', people[who])).body];
        for (const { id, chat_id = id, title, summary, prompt } of [...all.items, ...page.items])
          if ((title ?? summary ?? prompt) !== `of ${who}` && !shown.has(chat_id)) wrong.push(`${who} sees ${chat_id} in ${list}`);
        // Behind the last row the total is asked for by itself.
        if (page.items.length && page.items.length !== Math.min(5, page.total - 1))
          wrong.push(`${who} has ${page.items.length} rows of ${page.total} in ${list}`);
      }
      for (const { basis, sample_decision_ids } of (await ask(groups, '?limit=50', people[who])).body.items)
        for (const chat of [basis, ...sample_decision_ids.map((id: string) => chatOf.get(id))])
          if (isHidden(chat)) wrong.push(`${who} sees ${chat} in groups`);
    }
  };
  const folding = async () => {
    while (folds) for (const tally of TALLIES) await foldTally(app.db, tally);
  };
  const reading = Promise.all(people.map((_, who) => read(who)));
  folders.push(folding(), folding());
  await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n))).finally(() => (over = true));
  await reading;
  expect(wrong).toEqual([]);

  for (const list of lists)
    for (const as of people)
      for (const query of ['', ...(list.endsWith('/decisions') ? ['&archived=true', '&review_status=unreviewed'] : [])]) {
        const [{ total }, { items }] = [(await ask(list, `?limit=1${query}`, as)).body, (await ask(list, `?${query}`, as)).body];
        expect([list, query, total]).toEqual([list, query, items.length]);
        if (list === decisions) {
          const { items: found, total: groupsFound } = (await ask(groups, `?${query}`, as)).body;
          expect(found).toEqual(expect.arrayContaining(groupedByHand(items)));
          expect([found.length, groupsFound]).toEqual(Array(2).fill(groupedByHand(items).length));
        }
      }
});

it('what is folded is one row for each sum, and none for nothing; to count it anew changes nothing', async () => {
  for (const tally of TALLIES) {
    const before = await sumsOf(app.db, tally);
    while (await foldTally(app.db, tally));
    const [{ rows }] = await app.db.query(sql<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${tally.table}`));
    const after = await sumsOf(app.db, tally, true);
    expect([after.length, rows]).toEqual([before.length, before.length]);
    await recountTally(app.db, tally);
    expect(await sumsOf(app.db, tally, true)).toEqual(after);
  }
});
