import type { Blocker } from '@aps/billing';
import { CHAT_STATUSES } from '@aps/entities';
import { allowedActions, type ChatAction } from './actions.policy';
import { blockedBy, nextAction as nextOf, type BlockedBy, type ChatFacts } from './diagnosis.policy';

const t0 = new Date('2026-05-01T10:00:00.000Z');
const t1 = new Date('2026-05-01T11:00:00.000Z');
const turn = (over: Partial<NonNullable<ChatFacts['turn']>> = {}): NonNullable<ChatFacts['turn']> => ({
  status: 'queued',
  parked: false,
  dispatched_at: t0,
  lease_owner: null,
  lease_expires_at: null,
  fence: '1',
  ...{ lease_expired: false, ahead: 0, oldest_ahead_s: null },
  ...over,
});
const chat = (over: Partial<ChatFacts> = {}): ChatFacts => ({
  org_id: 'org',
  status: 'ACTIVE',
  pause: null,
  stop_reason: null,
  error: null,
  archived_at: null,
  last_turn_at: t0,
  org_suspended_at: null,
  agent_id: 'agent',
  agent_deleted_at: null,
  turn: null,
  ...over,
});
const waiting = (kind: 'human' | 'children' | 'timer', more = {}) =>
  chat({
    status: kind === 'human' ? 'PAUSED' : 'ACTIVE',
    pause: { kind, since: t1.toISOString(), ...more },
    turn: turn({ status: 'waiting' }),
  });
const failed = (code: string, retryable = true) => chat({ status: 'ERRORED', error: { code, message: 'm', retryable } });
const allowedIn = (of: ChatFacts, blocker: Blocker | null, has_opening = true): ChatAction[] =>
  allowedActions(of, {
    created_by: 'me',
    parent_chat_id: null,
    userId: 'me',
    blocked: blocker !== null,
    has_opening,
    agent_deleted: of.agent_deleted_at !== null,
  });
const nextAction = (of: ChatFacts, by: BlockedBy | null, blocker: Blocker | null) => nextOf(of, by, blocker, allowedIn(of, blocker));
const credits = { code: 'credits_exhausted', credits_remaining: '0' } as const;
const budget = { code: 'budget_exceeded', budget_limit_usd: '1', spend_usd: '2' } as const;

describe('a chat', () => {
  it.each([
    ['that does nothing', chat(), null, 'message'],
    ['whose turn has not begun', chat({ turn: turn() }), null, 'wait'],
    ['that runs', chat({ status: 'RUNNING', turn: turn({ status: 'running', lease_owner: 'w', lease_expires_at: t1 }) }), null, 'wait'],
    [
      'whose worker is silent',
      chat({ status: 'RUNNING', turn: turn({ status: 'running', lease_owner: 'w', lease_expires_at: t1, lease_expired: true }) }),
      { kind: 'lease', since: t1, ref: 'w' },
      'wait',
    ],
    [
      'over the cap',
      chat({ pause: { kind: 'queued', since: t1.toISOString() }, turn: turn({ parked: true }) }),
      { kind: 'cap', since: t1, ref: 'max_concurrent_chats' },
      'wait',
    ],
    ['that has just got its slot', chat({ pause: { kind: 'queued', since: t1.toISOString() }, turn: turn() }), null, 'wait'],
    ['that asks a human', waiting('human', { request_id: 'r' }), { kind: 'human', since: t1, ref: 'r' }, 'answer'],
    ['that waits for children', waiting('children', { child_chat_ids: ['c', 'd'] }), { kind: 'child', since: t1, ref: 'c' }, 'wait'],
    ['that sleeps', waiting('timer', { resume_at: 'then' }), { kind: 'timer', since: t1, ref: 'then' }, 'wait'],
    ['that failed', failed('provider_timeout'), null, 'continue'],
    ['that failed by its request', failed('provider_rejected', false), null, 'message'],
    ['without a route', failed('route_disabled', false), { kind: 'route', since: t0, ref: 'route_disabled' }, 'fix_route'],
    [
      'whose provider does not know its key',
      failed('provider_auth', false),
      { kind: 'route', since: t0, ref: 'provider_auth' },
      'fix_route',
    ],
    ['over its budget, which was raised', failed('budget_exceeded'), { kind: 'budget', since: t0, ref: 'budget_exceeded' }, 'continue'],
    [
      'that had no credits, and has some now',
      chat({ status: 'ARCHIVED', stop_reason: 'credits_exhausted', archived_at: t1 }),
      { kind: 'credits', since: t1, ref: 'credits_exhausted' },
      'continue',
    ],
    [
      'whose model has no price',
      chat({ status: 'ARCHIVED', stop_reason: 'model_unpriced', archived_at: t1 }),
      { kind: 'credits', since: t1, ref: 'model_unpriced' },
      'continue',
    ],
    ['that was archived', chat({ status: 'ARCHIVED', stop_reason: 'user_archived', archived_at: t1 }), null, 'retry'],
    ['that was abandoned', chat({ status: 'ABANDONED' }), null, 'retry'],
  ] as const)('%s', (_, of, by, next) => {
    expect(blockedBy(of)).toEqual(by);
    expect(nextAction(of, by, null)).toBe(next);
  });

  it('of a suspended organization waits for that, whatever else it waits for', () => {
    const of = { ...waiting('human'), org_suspended_at: t0 };
    expect(blockedBy(of)).toEqual({ kind: 'org_suspended', since: t0, ref: 'org' });
    expect(nextAction(of, blockedBy(of), null)).toBe('unsuspend');
    expect(blockedBy(chat({ org_suspended_at: t0 }))).toBeNull();
  });

  it('that could continue needs what is used up', () => {
    for (const stuck of [failed('provider_timeout'), chat({ status: 'ARCHIVED', stop_reason: 'credits_exhausted' })]) {
      expect([nextAction(stuck, blockedBy(stuck), credits), nextAction(stuck, blockedBy(stuck), budget)]).toEqual([
        'add_credits',
        'raise_budget',
      ]);
    }
  });
});

describe('in every state and for every reason, what is to be done next', () => {
  const turns = [
    null,
    turn(),
    turn({ parked: true }),
    turn({ status: 'running' }),
    turn({ status: 'running', lease_expired: true }),
    turn({ status: 'waiting' }),
  ];
  const pauses = [null, ...(['human', 'children', 'timer', 'queued'] as const).map((kind) => ({ kind, since: t1.toISOString() }))];
  const reasons = [null, 'user_archived', 'terminated', 'credits_exhausted', 'model_unpriced', 'hitl_expired', 'org_suspended', 'stopped'];
  const codes = [
    'provider_rate_limited',
    'provider_unavailable',
    'provider_timeout',
    'provider_rejected',
    'provider_auth',
    'provider_bad_response',
    'context_overflow',
    'route_disabled',
    'model_unavailable',
    'budget_exceeded',
    'dispatch_failed',
    'worker_lost',
    'internal',
  ];
  const errors = [null, ...codes.flatMap((code) => [true, false].map((retryable) => ({ code, message: 'm', retryable })))];

  /** The states that the service's table knows. */
  function* states(): Generator<ChatFacts> {
    for (const status of CHAT_STATUSES) {
      const live = ['ACTIVE', 'RUNNING', 'PAUSED'].includes(status);
      for (const of of live ? turns : [null]) {
        if ((status === 'RUNNING') !== (of?.status === 'running')) continue;
        for (const pause of of?.status === 'waiting' ? pauses.filter((p) => p && p.kind !== 'queued') : [of?.parked ? pauses[4] : null]) {
          if ((status === 'PAUSED') !== (pause?.kind === 'human')) continue;
          for (const stop_reason of status === 'ERRORED' ? [null] : reasons) {
            for (const error of status === 'ERRORED' ? errors : [null]) {
              for (const org_suspended_at of [null, t0])
                for (const agent_deleted_at of [null, t1])
                  yield chat({ status, turn: of, pause, stop_reason, error, org_suspended_at, agent_deleted_at });
            }
          }
        }
      }
    }
  }

  it.each([true, false])('can be done, or lifts what is in the way (opening message: %s)', (opening) => {
    let seen = 0;
    for (const of of states()) {
      for (const blocker of [null, credits, budget]) {
        seen += 1;
        const allowed = allowedIn(of, blocker, opening);
        const by = blockedBy(of);
        const next = nextOf(of, by, blocker, allowed);
        const gone = of.agent_deleted_at !== null;
        const closed = of.status === 'ARCHIVED' || of.status === 'ABANDONED';
        const continuable =
          of.status === 'ERRORED' || (of.status === 'ARCHIVED' && ['credits_exhausted', 'model_unpriced'].includes(of.stop_reason ?? ''));
        // The table itself: what a message, a continue, a retry and a terminate do.
        expect({ of, has: ['message', 'continue', 'retry', 'terminate'].map((a) => allowed.includes(a as ChatAction)) }).toEqual({
          of,
          has: [!closed && !gone, continuable && !blocker && !gone, opening && !gone, !closed && of.status !== 'ERRORED'],
        });
        const holds = {
          message: allowed.includes('message'),
          continue: allowed.includes('continue'),
          retry: allowed.includes('retry'),
          answer: of.pause?.kind === 'human' && of.turn !== null,
          wait: of.turn !== null,
          add_credits: continuable && blocker === credits,
          raise_budget: continuable && blocker === budget,
          fix_route: continuable && by?.kind === 'route' && allowed.includes('continue'),
          unsuspend: of.org_suspended_at !== null,
          none: (of.turn === null || gone) && !(['message', 'continue', 'retry'] as const).some((action) => allowed.includes(action)),
        }[next ?? 'none'];
        if (!holds) throw new Error(`${next} for ${JSON.stringify({ of, blocker, allowed })}`);
      }
    }
    expect(seen).toBeGreaterThan(300);
  });
});
