import { CHAT_TALLY, ChatTally, foldOf, recountOf } from '@aps/entities';
import { NO_CALLER } from '@aps/platform/database';
import { sql, type Bearer } from '@aps/platform/testing';
import { aMember } from '@aps/orgs/testing';
import { random } from '@aps/testing';
import { chatsService, type TestOrg } from './testing/chats';

/** `npm run certify` plays thousands; CERTIFY_SCHEDULES is their number, TEST_SEED the seed. */
const STEPS = Number(process.env.CERTIFY_SCHEDULES ?? 400);
const WRITERS = 10;

const app = chatsService();
let org: TestOrg;

const fold = () => app.db.query(sql<{ n: number }>(foldOf(CHAT_TALLY)), [7]);
const tallies = async () => (await app.db.manager.find(ChatTally)).map(({ agent_id, private_to, n }) => ({ agent_id, private_to, n }));
const sums = async () => {
  const found = new Map<string, number>();
  for (const { agent_id, private_to, n } of await tallies())
    found.set(`${agent_id} ${private_to}`, (found.get(`${agent_id} ${private_to}`) ?? 0) + n);
  return Object.fromEntries([...found].filter(([, n]) => n !== 0).sort());
};

it('lists and their totals are right while chats come, go, and are shown and hidden; nobody sees what is a colleague’s', async () => {
  org = await app.org();
  const people: Bearer[] = [org.owner, org.member, await aMember(app, org, 'MEMBER')];
  const seed = Number(process.env.TEST_SEED ?? 1);
  const wrong: string[] = [];
  let left = STEPS;
  let over = false;
  const write = async (n: number) => {
    const next = random(seed * 1_000 + n);
    const as = people[n % people.length];
    const mine: string[] = [];
    while (left-- > 0) {
      const dice = next();
      const one = mine[Math.floor(next() * mine.length)];
      if (!one || dice < 0.4) mine.push(await app.chat(org, { title: `of ${n % people.length}` }, as));
      else if (dice < 0.85) await app.call('PATCH', `${org.path}/${one}`, { as, body: { shared: dice < 0.6 } });
      else await app.call('DELETE', `${org.path}/${mine.splice(mine.indexOf(one), 1)[0]}`, { as });
    }
  };
  const read = async (n: number) => {
    while (!over) {
      const all = (await app.call('GET', org.path, { as: people[n] })).body;
      const page = (await app.call('GET', `${org.path}?limit=5&offset=3`, { as: people[n] })).body;
      const foreign = [...all.items, ...page.items].filter(
        ({ title, shared }: { title: string; shared: boolean }) => title !== `of ${n}` && !shared,
      );
      if (foreign.length) wrong.push(`${n} sees ${JSON.stringify(foreign)}`);
      if (page.items.length !== Math.max(0, Math.min(5, page.total - 3)))
        wrong.push(`${n} has ${page.items.length} rows of a total of ${page.total}`);
    }
  };
  const folding = async () => {
    while (!over) await fold();
  };
  const reading = Promise.all([...people.map((_, n) => read(n)), folding(), folding()]);
  await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n))).finally(() => (over = true));
  await reading;
  expect(wrong).toEqual([]);

  const kept = await sums();
  for (const [n, as] of people.entries()) {
    const [{ total }, items] = [
      (await app.call('GET', `${org.path}?limit=1`, { as })).body,
      (await app.call('GET', org.path, { as })).body.items,
    ];
    expect([n, total]).toEqual([n, items.length]);
  }
  await app.db.transaction(NO_CALLER, async (tx) => {
    for (const statement of recountOf(CHAT_TALLY)) await tx.execute(sql(statement));
  });
  expect(await sums()).toEqual(kept);
});

it('what is folded is one row for each sum, and none for nothing', async () => {
  for (let n = 1; n > 0;) [{ n }] = await fold();
  const rows = await tallies();
  expect(rows).toEqual(rows.filter(({ n }) => n !== 0));
  expect(new Set(rows.map(({ agent_id, private_to }) => `${agent_id} ${private_to}`)).size).toBe(rows.length);
});
