import { blockedBy, nextAction, type ChatFacts } from './diagnosis.policy';

const t0 = new Date('2026-05-01T10:00:00.000Z');
const t1 = new Date('2026-05-01T11:00:00.000Z');
const turn = (over: Partial<NonNullable<ChatFacts['turn']>> = {}): NonNullable<ChatFacts['turn']> => ({
  status: 'queued', parked: false, dispatched_at: t0, lease_owner: null, lease_expires_at: null, lease_expired: false, fence: '1', ...over,
});
const chat = (over: Partial<ChatFacts> = {}): ChatFacts => ({
  org_id: 'org', status: 'ACTIVE', pause: null, stop_reason: null, error: null, archived_at: null, last_turn_at: t0, org_suspended_at: null, turn: null, ...over,
});
const waiting = (kind: 'human' | 'children' | 'timer', more = {}) => chat({ status: kind === 'human' ? 'PAUSED' : 'ACTIVE', pause: { kind, since: t1.toISOString(), ...more }, turn: turn({ status: 'waiting' }) });
const failed = (code: string, retryable = true) => chat({ status: 'ERRORED', error: { code, message: 'm', retryable } });
const credits = { code: 'credits_exhausted', credits_remaining: '0' } as const;
const budget = { code: 'budget_exceeded', budget_limit_usd: '1', spend_usd: '2' } as const;

describe('a chat', () => {
  it.each([
    ['that does nothing', chat(), null, 'message'],
    ['whose turn has not begun', chat({ turn: turn() }), null, 'wait'],
    ['that runs', chat({ status: 'RUNNING', turn: turn({ status: 'running', lease_owner: 'w', lease_expires_at: t1 }) }), null, 'wait'],
    ['whose worker is silent', chat({ status: 'RUNNING', turn: turn({ status: 'running', lease_owner: 'w', lease_expires_at: t1, lease_expired: true }) }), { kind: 'lease', since: t1, ref: 'w' }, 'wait'],
    ['over the cap', chat({ pause: { kind: 'queued', since: t1.toISOString() }, turn: turn({ parked: true }) }), { kind: 'cap', since: t1, ref: 'max_concurrent_chats' }, 'wait'],
    ['that has just got its slot', chat({ pause: { kind: 'queued', since: t1.toISOString() }, turn: turn() }), null, 'wait'],
    ['that asks a human', waiting('human', { request_id: 'r' }), { kind: 'human', since: t1, ref: 'r' }, 'answer'],
    ['that waits for children', waiting('children', { child_chat_ids: ['c', 'd'] }), { kind: 'child', since: t1, ref: 'c' }, 'wait'],
    ['that sleeps', waiting('timer', { resume_at: 'then' }), { kind: 'timer', since: t1, ref: 'then' }, 'wait'],
    ['that failed', failed('provider_timeout'), null, 'continue'],
    ['that failed by its request', failed('provider_rejected', false), null, 'message'],
    ['without a route', failed('route_disabled', false), { kind: 'route', since: t0, ref: 'route_disabled' }, 'fix_route'],
    ['over its budget, which was raised', failed('budget_exceeded'), { kind: 'budget', since: t0, ref: 'budget_exceeded' }, 'continue'],
    ['that had no credits, and has some now', chat({ status: 'ARCHIVED', stop_reason: 'credits_exhausted', archived_at: t1 }), { kind: 'credits', since: t1, ref: 'credits_exhausted' }, 'continue'],
    ['whose model has no price', chat({ status: 'ARCHIVED', stop_reason: 'model_unpriced', archived_at: t1 }), { kind: 'credits', since: t1, ref: 'model_unpriced' }, 'continue'],
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
      expect([nextAction(stuck, blockedBy(stuck), credits), nextAction(stuck, blockedBy(stuck), budget)]).toEqual(['add_credits', 'raise_budget']);
    }
  });
});
