import { entitle } from '@aps/billing/testing';
import { sql } from '@aps/platform/testing';
import { Runs } from '@aps/platform/runs';
import { CHAT_STATES, STATE_TABLE, type ChatState } from '../state/chat-state.policy';
import { HitlService } from '../hitl/hitl.service';
import { delegate, delegatingOrg } from '../testing/delegating';
import { calls, chatsService, script, SLOW, type TestOrg } from '../testing/chats';

interface Row {
  status: string;
  pause: { kind: string } | null;
  stop_reason: string | null;
  error: { code: string } | null;
  stop_requested_at: Date | null;
  completed_at: Date | null;
  archived_at: Date | null;
  deleted_at: Date | null;
  title: string | null;
}

/** What a chat is, in one line: its status with all that stands beside it, and its turns. */
const show = (row: Row, turns: string[]): string =>
  [
    row.deleted_at ? 'DELETED' : row.status,
    row.pause?.kind,
    row.stop_reason,
    row.error?.code,
    row.stop_requested_at && 'asked',
    row.archived_at && 'archived_at',
    row.completed_at && 'completed_at',
    `[${turns.join(' ')}]`,
  ]
    .filter(Boolean)
    .join(' ');

/** The ways in which a state comes about; the first is the plain one. */
const VARIANTS: Partial<Record<ChatState, string[]>> = {
  running: ['running', 'running, one behind'],
  archived: ['archived', 'terminated', 'terminated, without a message'],
};
const CASES = CHAT_STATES.flatMap((state) => (VARIANTS[state] ?? [state]).map((name): [string, ChatState] => [name, state]));

/**
 * What the table of states says that comes of an action: status of the answer, what it says, and after `->` the chat as its row is then
 * with the statuses of its turns (`=`: as before), and in braces what its readers are told.
 */
function expected(action: string, state: ChatState, row: Row, turns: string[]): string {
  const effects = STATE_TABLE[state];
  const ended = turns.map((turn) => (turn === 'queued' ? 'skipped' : ['running', 'waiting'].includes(turn) ? 'stopped' : turn));
  const now = new Date();
  const [queued, over] = [`[${[...turns, 'queued'].join(' ')}]`, `[${ended.join(' ')}]`];
  const toActive = `{${row.status}>ACTIVE}`;
  const asked = state === 'human' ? 'hitl_resolved ' : '';
  switch (action) {
    case 'stop':
    case 'cascade': {
      if (effects.stop === 'none') return '200 =';
      const more = action === 'cascade' && state === 'children' ? ' and 1 more' : '';
      return `200${more} stopped${row.pause ? ` ${row.pause.kind}` : ''} -> ACTIVE asked ${over} ${toActive}`;
    }
    case 'terminate':
      if (effects.terminate === 'none') return '200 =';
      return `200 terminated -> ARCHIVED terminated archived_at completed_at ${over} {${asked}${row.status}>ARCHIVED}`;
    case 'archive':
      if (effects.archive === 'none') return '200 =';
      return `200 -> ARCHIVED user_archived${state === 'running' ? ' asked' : ''} archived_at ${over} {${row.status}>ARCHIVED}`;
    case 'continue':
      return effects.continue === 'refuse' ? '422 not_continuable =' : `200 -> ACTIVE ${queued} ${toActive}`;
    case 'message':
      switch (effects.message) {
        case 'dispatch':
          return `202 -> ACTIVE ${queued}`;
        case 'queue':
          return `202 queued turn_running -> ${show(row, [...turns, 'queued'])}`;
        case 'interrupt':
          return `202 -> ACTIVE [${[...ended, 'queued'].join(' ')}] {${asked}${row.status}>ACTIVE}`;
        case 'revive':
          return `202 -> ACTIVE ${queued} ${toActive}`;
        case 'keep':
          return `202 chat_${row.status.toLowerCase()} =`;
      }

    case 'retry':
      return turns.length === 0 ? '422 nothing_to_retry =' : '201 =';
    case 'delete':
      // That it was at work is noted: whoever counts what became of chats is not to miss it.
      return `204 -> ${show({ ...row, pause: null, deleted_at: now, stop_reason: ended.join() === turns.join() ? row.stop_reason : 'deleted' }, ended)}`;
    case 'unarchive':
      return row.status === 'ARCHIVED' ? '422 cannot_unarchive =' : '200 =';
    default:
      return '200 = {title_changed}';
  }
}

/** Every state that a chat can be in against everything that can be done to it: what is answered, what the chat is then, and what its readers are told. */
describe('the states of a chat', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await delegatingOrg(app);
    await app.addUnpricedModel('free');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { max_concurrent_chats: 2_000, enforces_credits: false });
  });

  const path = (chat: string, rest = '') => `${org.path}/${chat}${rest}`;
  const post = (chat: string, action: string, body?: unknown) => app.call('POST', path(chat, `/${action}`), { as: org.owner, body });
  const said = async (chat: string, content: string, extra: Record<string, unknown> = {}) => {
    const answer = await post(chat, 'messages', { content, ...extra });
    expect(answer.status).toBe(202);
  };
  /** From now on jobs are taken and left alone, so that nothing but the action changes the chat. */
  const inert = () => jest.spyOn(app.get(Runs), 'run').mockResolvedValue();

  const make: Record<string, (chat: string) => Promise<unknown>> = {
    idle: async (chat) => {
      await said(chat, 'hello');
      await app.settled(org, chat, 1);
    },
    dispatched: async (chat) => {
      inert();
      await said(chat, 'hello');
    },
    running: async (chat) => {
      await said(chat, SLOW);
      await app.until(org, chat, (c) => c.status === 'RUNNING');
    },
    'running, one behind': async (chat) => {
      await make.running(chat);
      await said(chat, 'behind');
    },
    timer: async (chat) => {
      await said(chat, calls('wait_until', { for_s: 3600 }));
      await app.until(org, chat, (c) => c.pause?.kind === 'timer');
    },
    children: async (chat) => {
      await said(chat, delegate(SLOW));
      await app.until(org, chat, (c) => c.pause?.kind === 'children');
      // The child is in its turn, so that it is the same in every case.
      for (;;) {
        const [child] = await app.db.query(sql<{ status: string }>('SELECT status FROM chats WHERE parent_chat_id = $1'), [chat]);
        if (child?.status === 'RUNNING') break;
        await new Promise((r) => setTimeout(r, 20));
      }
    },
    human: async (chat) => {
      await said(chat, calls('ask_human', { kind: 'question', prompt: 'Which?' }));
      await app.until(org, chat, (c) => c.pause?.kind === 'human');
    },
    queued: async (chat) => {
      await entitle(app, { max_concurrent_chats: 0 });
      await said(chat, 'hello');
      await app.until(org, chat, (c) => c.pause?.kind === 'queued');
    },
    failed: async (chat) => {
      await said(chat, script({ error: { status: 400, message: 'no' } }));
      await app.until(org, chat, (c) => c.status === 'ERRORED');
    },
    liftable: async (chat) => {
      await entitle(app, { enforces_credits: true });
      await said(chat, 'hello', { model: 'free' });
      await app.until(org, chat, (c) => c.status === 'ARCHIVED');
    },
    archived: async (chat) => {
      await make.idle(chat);
      await app.call('PATCH', path(chat), { as: org.owner, body: { archived: true } });
    },
    terminated: async (chat) => {
      await make.idle(chat);
      await post(chat, 'terminate');
    },
    'terminated, without a message': (chat) => post(chat, 'terminate'),
    abandoned: async (chat) => {
      await make.human(chat);
      await app.db.execute(sql(`UPDATE hitl_requests SET expires_at = now() - interval '1 second' WHERE chat_id = $1`), [chat]);
      await app.get(HitlService).expire(100);
    },
  };

  const actions: Record<string, (chat: string) => ReturnType<typeof post>> = {
    stop: (chat) => post(chat, 'stop', { reason: 'enough' }),
    cascade: (chat) => post(chat, 'stop', { cascade: true }),
    terminate: (chat) => post(chat, 'terminate'),
    continue: (chat) => post(chat, 'continue'),
    message: (chat) => post(chat, 'messages', { content: 'next' }),
    retry: (chat) => post(chat, 'retry'),
    delete: (chat) => app.call('DELETE', path(chat), { as: org.owner }),
    archive: (chat) => app.call('PATCH', path(chat), { as: org.owner, body: { archived: true } }),
    unarchive: (chat) => app.call('PATCH', path(chat), { as: org.owner, body: { archived: false } }),
    rename: (chat) => app.call('PATCH', path(chat), { as: org.owner, body: { title: 'New' } }),
  };

  const rowOf = async (chat: string) => (await app.db.query(sql<Row>('SELECT * FROM chats WHERE id = $1'), [chat]))[0];
  const turnsOf = async (chat: string) =>
    (await app.db.query(sql<{ status: string }>('SELECT status FROM turns WHERE chat_id = $1 ORDER BY seq'), [chat])).map((t) => t.status);
  const newest = async (chat: string) =>
    (
      await app.db.query(sql<{ seq: number }>(`SELECT coalesce(max(seq), 0)::int AS seq FROM events WHERE topic = 'chat:' || $1`), [chat])
    )[0].seq;
  const TOLD = ['status_changed', 'hitl_resolved', 'title_changed'];

  /** Does it. @returns what comes of it, and what the table says */
  const after = async (chat: string, state: ChatState, action: string): Promise<{ came: string; says: string }> => {
    const before = await newest(chat);
    const [row, turns] = [await rowOf(chat), await turnsOf(chat)];
    const was = show(row, turns);
    const says = expected(action, state, row, turns);
    const answer = await actions[action](chat);
    const is = show(await rowOf(chat), await turnsOf(chat));
    const told = await app.db.query(
      sql<{ type: string; data: { from?: string; to?: string; status?: string } }>(
        `SELECT type, data FROM events WHERE topic = 'chat:' || $1 AND seq > $2 AND type = ANY($3) ORDER BY seq`,
      ),
      [chat, before, TOLD],
    );
    const events = told.map((e) => (e.type === 'status_changed' ? `${e.data.from}>${e.data.to}` : e.type));
    const { body } = answer;
    const facts = [
      body?.code,
      body?.cascaded_chat_ids?.length > 0 && `and ${body.cascaded_chat_ids.length} more`,
      body?.stopped === true && 'stopped',
      body?.cleared_pause,
      body?.terminated === true && 'terminated',
      body?.queued === true && 'queued',
      body?.reason,
    ].filter(Boolean);
    const came = [answer.status, ...facts, is === was ? '=' : `-> ${is}`, ...(events.length ? [`{${events.join(' ')}}`] : [])].join(' ');
    return { came, says };
  };

  it.each(CASES)('%s', async (name, state) => {
    const table: Record<string, string> = {};
    const said: Record<string, string> = {};
    let diagnosis: { state: string; next_action: string | null; allowed_actions: string[] } = {
      state: '',
      next_action: null,
      allowed_actions: [],
    };
    for (const action of Object.keys(actions)) {
      const chat = await app.chat(org);
      await make[name](chat);
      inert();
      if (Object.keys(table).length === 0) diagnosis = (await app.call('GET', path(chat, '/diagnosis'), { as: org.owner })).body;
      const { came, says } = await after(chat, state, action);
      table[action] = came;
      said[action] = says;
      await actions.delete(chat);
      jest.restoreAllMocks();
      await entitle(app, { max_concurrent_chats: 2_000, enforces_credits: false });
    }
    expect(table).toEqual(said);
    // What is said to be allowed is what has an effect.
    const effective = ['message', 'stop', 'terminate', 'continue', 'retry', 'archive'].filter((action) =>
      /^2\d\d .*->|^201 /.test(table[action]),
    );
    expect(diagnosis.allowed_actions).toEqual([...effective, 'rename', 'share', 'delete']);
    expect([...effective, 'wait', 'answer', null]).toContain(diagnosis.next_action);
  });
});
