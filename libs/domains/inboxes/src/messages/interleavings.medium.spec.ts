import type { TestOrg } from '@aps/chats/testing';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { eventually, sql } from '@aps/platform/testing';
import { gaveWay, movesSeen, noteMoves, playSchedules, refuseOtherMoves, schedulesOr, type Chance } from '@aps/testing';
import { inboxesService, type TestInbox } from '../testing';

const SCHEDULES = schedulesOr(100);
const AT_ONCE = 8;
const SCHEDULE_MS = 2_500;

/** Every change of state that the table has, and no other. */
const MOVES = [
  'evaluating>accepted',
  'evaluating>dropped',
  'evaluating>held',
  'evaluating>failed',
  'held>dropped',
  'failed>dropped',
].concat(['accepted', 'dropped', 'held', 'failed'].map((state) => `${state}>evaluating`));
const RULES = [
  {},
  { default: { action: 'quarantine' } },
  { stages: [{ id: 'half', kind: 'match', when: { field: 'subject', op: 'contains', value: 'even' }, then: { action: 'hold' } }] },
  { stages: [{ id: 'no', kind: 'match', when: { field: 'subject', op: 'contains', value: 'odd' }, then: { action: 'drop' } }] },
  {
    stages: [
      {
        id: 'ask',
        kind: 'classifier',
        instruction: 'Which?',
        labels: [
          { label: 'yes', action: 'accept' },
          { label: 'no', action: 'hold' },
        ],
      },
    ],
  },
];

describe('what is done to messages at the same moment', () => {
  const t = inboxesService({}, []);
  beforeAll(async () => {
    for (const statement of [...refuseOtherMoves('inbox_messages', 'state', MOVES), ...noteMoves('inbox_messages', 'state')])
      await t.db.execute(statement);
  });

  /** Does a handful of things to the messages of one inbox, some of them at once, while they are evaluated. */
  const play = async (org: TestOrg, chance: Chance): Promise<{ inbox: TestInbox; messages: string[]; odd: string[] }> => {
    const { pick } = chance;
    const inbox = await t.inbox(org);
    const odd: string[] = [];
    const messages: string[] = [];
    const call = async (method: string, path: string, body?: unknown, fine: number[] = [200, 201, 204, 409]) => {
      const answer = await t.call(method, `${inbox.path}${path}`, { as: org.owner, body });
      if (!fine.includes(answer.status) && !gaveWay(answer)) odd.push(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer;
    };
    const deploy = async () => {
      const { status, body } = await call('POST', '/revisions', { definition: chance.choose(RULES) });
      if (status < 300) await call('POST', `/revisions/${body.id as string}/deploy`);
    };
    const arrive = async () => {
      const again = pick() < 0.3 && messages.length > 0;
      const n = again ? messages.length - 1 : messages.length;
      const mail = { subject: n % 2 ? 'odd' : 'even', dedupe_key: `${inbox.id} ${n}`, body_text: pick() < 0.5 ? 'yes' : 'no' };
      // Who waited too long for the first of a repeat is told to come again, and does.
      const come = (): Promise<string> =>
        t.mail(inbox, mail).catch((error: { code?: string }) => {
          if (error.code !== '55P03') throw error;
          return come();
        });
      const id = await come();
      if (!messages.includes(id)) messages.push(id);
    };
    const act = async (): Promise<unknown> => {
      const which = pick();
      const message = chance.choose(messages);
      if (which < 0.2) return arrive();
      if (which < 0.4) return call('POST', `/messages/${message}/replay`);
      if (which < 0.52) return call('POST', `/messages/${message}/retry`);
      if (which < 0.64) return call('POST', `/messages/${message}/release`);
      if (which < 0.74) return call('POST', `/messages/${message}/terminate`);
      if (which < 0.84) return deploy();
      if (which < 0.9) return call('PATCH', '', { status: chance.choose(['active', 'paused']) });
      if (which < 0.94) return t.releaseDue();
      // What the silence of a worker leaves behind; another claim follows.
      return t.db.execute(
        sql(`UPDATE inbox_messages SET lease_expires_at = now() - interval '2 seconds'
          WHERE id IN (SELECT id FROM inbox_messages WHERE inbox_id = $1 AND status = 'running' FOR UPDATE SKIP LOCKED)`),
        [inbox.id],
      );
    };
    await arrive();
    await chance.rounds(act, { most: 5, restMs: 150 });
    return { inbox, messages, odd };
  };

  const quiet = ({ id }: TestInbox) =>
    eventually(
      async () => {
        // As the sweeper would, a little later.
        await t.sweep();
        return t.db.query(sql(`SELECT id, status FROM inbox_messages WHERE inbox_id = $1 AND status <> 'settled'`), [id]);
      },
      (live) => live.length === 0,
    );

  const checkAt = async (tx: Tx, inbox: TestInbox, messages: string[]): Promise<string[]> => {
    const wrong: string[] = [];
    const stored = await tx.query(sql<{ id: string }>('SELECT id FROM inbox_messages WHERE inbox_id = $1 ORDER BY received_at, id'), [
      inbox.id,
    ]);
    if (stored.length !== messages.length) wrong.push(`${stored.length} messages of ${messages.length}`);
    for (const id of messages) {
      const { state, verdict, hold_reason, dispatched, previous_dispatches, trace, terminated_at } = await t.message(id);
      const chats = await tx.query(
        sql<{ id: string; status: string }>(`SELECT id, status FROM chats WHERE origin_kind = 'inbox' AND origin_ref_id = $1 ORDER BY id`),
        [id],
      );
      const named = [...previous_dispatches, ...(dispatched ? [dispatched] : [])].map(({ chat_id }) => chat_id).sort();
      const begun = trace
        .filter(({ kind, outcome }) => kind === 'dispatch' && outcome === 'dispatched')
        .map(({ detail }) => detail!.chat_id as string)
        .sort();
      const all = chats.map((chat) => chat.id).sort();
      if (JSON.stringify([named, begun]) !== JSON.stringify([all, all]))
        wrong.push(`${id}: chats ${all.join()}, named ${named.join()}, in its trace ${begun.join()}`);
      if (state === 'accepted' && (verdict !== 'accepted' || !dispatched)) wrong.push(`${id}: accepted, ${verdict}, handed to nobody`);
      if (state === 'held' && (verdict !== 'quarantined' || !hold_reason)) wrong.push(`${id}: held, ${verdict}, ${hold_reason}`);
      const last = trace.map(({ kind }) => kind);
      if (terminated_at && !last.slice(last.lastIndexOf('terminated')).includes('gate')) {
        const alive = chats.filter(({ status }) => status !== 'ARCHIVED' && status !== 'ERRORED');
        if (alive.length && !last.slice(last.lastIndexOf('terminated')).includes('dispatch'))
          wrong.push(`${id}: terminated, and ${alive.length} chats go on`);
      }
    }
    const jobs = await tx.query(sql(`SELECT 1 FROM outbox WHERE job = 'inbox.evaluate' AND payload->>'message_id' = ANY ($1)`), [messages]);
    if (jobs.length) wrong.push(`${jobs.length} jobs are left`);
    const deployed = await tx.query(
      sql<{ n: number; current: boolean }>(`
      SELECT count(r.id)::int AS n, coalesce(bool_and(r.id = i.current_revision_id), i.current_revision_id IS NULL) AS current
      FROM inboxes i LEFT JOIN inbox_revisions r ON r.inbox_id = i.id AND r.status = 'deployed' WHERE i.id = $1 GROUP BY i.id`),
      [inbox.id],
    );
    if (deployed[0].n > 1 || !deployed[0].current) wrong.push(`${deployed[0].n} revisions are deployed`);
    const [events] = await tx.query(
      sql<{ n: number; newest: number }>(
        `SELECT count(*)::int AS n, coalesce(max(seq), 0)::int AS newest FROM events WHERE topic = 'inbox:' || $1`,
      ),
      [inbox.id],
    );
    if (events.n !== events.newest) wrong.push(`events have gaps: ${events.n} of ${events.newest}`);
    return wrong;
  };

  it(
    `${SCHEDULES} schedules keep to the table of states, begin each handler once, and leave nothing behind`,
    async () => {
      const player = async () => {
        const org = await t.org();
        return async (chance: Chance): Promise<string[]> => {
          const { inbox, messages, odd } = await play(org, chance);
          await t.call('PATCH', inbox.path, { as: org.owner, body: { status: 'active' } });
          // What was held while it was paused goes on; none may begin to in the middle of the check.
          do await quiet(inbox);
          while ((await t.releaseDue()) > 0);
          await quiet(inbox);
          return [...odd, ...(await t.db.transaction(NO_CALLER, (tx) => checkAt(tx, inbox, messages)))];
        };
      };
      const seen = async () => (await t.db.query(movesSeen('inbox_messages'))).map(({ move }) => move);
      const failures = await playSchedules('Interleavings of inboxes', SCHEDULES, AT_ONCE, player, seen);
      expect(failures).toEqual([]);
    },
    600_000 + SCHEDULES * SCHEDULE_MS,
  );
});
