import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { HoldReason, TraceRow } from '@aps/entities';
import { advisoryLock, Database, NO_CALLER, type Db } from '@aps/platform/database';
import { placeOf } from '../channels/addresses.policy';
import type { GateAction, Gates } from '../rules/rule-set.schema';
import { EvaluationRepository, type Settled } from './evaluation.repository';
import type { LoadedMessage } from './evaluation.sql';
import { Stopwatch } from './trace';

/** What a gate says of a message that it does not let through. */
type Stopped = Omit<Settled, 'decided_by' | 'tags' | 'dispatched'>;
type GateResult = { stopped: Stopped; detail?: TraceRow['detail'] } | { outcome: 'passed' | 'skipped'; detail?: TraceRow['detail'] };

const PASSED: GateResult = { outcome: 'passed' };
const SKIPPED: GateResult = { outcome: 'skipped' };
const held = (hold_reason: HoldReason, detail?: TraceRow['detail']): Extract<GateResult, { stopped: Stopped }> => ({
  stopped: { state: 'held', verdict: 'quarantined', hold_reason },
  detail,
});
const dropped = (detail?: TraceRow['detail']): Extract<GateResult, { stopped: Stopped }> => ({
  stopped: { state: 'dropped', verdict: 'dropped', hold_reason: null },
  detail,
});
const by = (action: GateAction, detail: TraceRow['detail']): GateResult =>
  action === 'accept' ? { outcome: 'passed', detail } : action === 'drop' ? dropped(detail) : held('quarantined', detail);

/**
 * The gates before the rules. Those of rates and quotas hold and never drop; what has passed them counts from then on, once, however often
 * it is evaluated.
 */
@Injectable()
export class GateKeeper {
  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Runs what decides on a message. Where rates or days are counted that is a transaction, which keeps those off that would take the same
   * place; else it is none.
   *
   * @param decide gets the plan's limit of a day; null where there is none
   */
  async within<T>(m: LoadedMessage, decide: (db: Db, planLimit: number | null) => Promise<T>): Promise<T> {
    const { intake_messages_per_day: plan } = await this.entitlements.of(m.org_id);
    if (m.passed_at !== null || (plan < 0 && !hasRates(m) && m.rate_limit_messages_per_day === null)) return decide(this.db, null);
    return this.db.transaction(NO_CALLER, async (tx) => {
      // Two that come at once must not both take the last place.
      if (hasRates(m)) await advisoryLock(tx, `intake:${m.inbox_id}`);
      const { intake_messages_per_day: limit } = await this.entitlements.of(m.org_id, tx);
      return decide(tx, limit < 0 ? null : limit);
    });
  }

  /**
   * @returns a row for each gate that was asked, what the message is stopped for, if anything, and whether it passes the rates with this
   */
  async ask(
    db: Db,
    m: LoadedMessage,
    rules: Gates,
    planLimit: number | null,
  ): Promise<{ rows: TraceRow[]; end: Omit<Settled, 'tags'> | null; passes: boolean }> {
    const rows: TraceRow[] = [];
    const counted: string[] = [];
    const arrival = m.evaluation_cause === 'arrival';
    const gates: [name: string, gate: () => GateResult | Promise<GateResult>][] = [
      ['size', () => (arrival ? PASSED : SKIPPED)],
      ['duplicate', () => (arrival ? PASSED : SKIPPED)],
      ['auto_submitted', () => loop(m, rules)],
      ['inbox_status', () => status(m)],
      ['sender_per_minute', () => this.perSender(db, m, 'minute', m.rate_limit_per_sender_per_minute)],
      ['sender_per_hour', () => this.perSender(db, m, 'hour', m.rate_limit_per_sender_per_hour)],
      ['messages_per_day', () => this.perDay(db, m, m.inbox_id, m.rate_limit_messages_per_day, 'rate_inbox', counted)],
      ['spike', () => this.spike(db, m)],
      ['plan_intake', () => this.perDay(db, m, null, planLimit, 'plan_intake', counted)],
    ];
    const later: typeof gates = [
      ['dmarc', () => (m.auth?.dmarc === 'fail' ? by(rules.dmarc_fail, { dmarc: 'fail' }) : PASSED)],
      [
        'attachments',
        () =>
          m.attachments.length > rules.max_attachments
            ? held('quarantined', { count: m.attachments.length, max: rules.max_attachments })
            : PASSED,
      ],
    ];
    const run = async (some: typeof gates) => {
      for (const [name, gate] of some) {
        const watch = new Stopwatch(this.db.now());
        const result = await gate();
        const stopped = 'stopped' in result ? result.stopped : null;
        rows.push(rowOf(watch, name, result));
        if (stopped) return { ...stopped, decided_by: name };
      }
      return null;
    };
    const end = await run(gates);
    if (end) return { rows, end, passes: false };
    await this.repository.countPassed(db, m.org_id, counted);
    return { rows, end: await run(later), passes: m.passed_at === null };
  }

  /** What the gate says of a message whose inbox is deleted, or whose organization is suspended, for one that has passed it before. */
  since(what: 'inbox_deleted' | 'org_suspended'): [row: TraceRow, end: Omit<Settled, 'tags'>] {
    const result = what === 'inbox_deleted' ? dropped({ reason: what }) : held(what);
    return [rowOf(new Stopwatch(this.db.now()), 'inbox_status', result), { ...result.stopped, decided_by: 'inbox_status' }];
  }

  private async perSender(db: Db, m: LoadedMessage, window: 'minute' | 'hour', limit: number | null): Promise<GateResult> {
    if (limit === null || m.passed_at !== null) return PASSED;
    const passed = (await this.repository.passedOfSender(db, m, { minute: 0, hour: 0, [window]: limit }))[window];
    return passed >= limit ? held('rate_sender', { limit }) : PASSED;
  }

  private async perDay(
    db: Db,
    m: LoadedMessage,
    inboxId: string | null,
    limit: number | null,
    reason: HoldReason,
    counted: string[],
  ): Promise<GateResult> {
    if (limit === null || m.passed_at !== null) return PASSED;
    if ((await this.repository.passedToday(db, m.org_id, inboxId)) >= limit) return held(reason, { limit });
    counted.push(inboxId ?? '');
    return PASSED;
  }

  private async spike(db: Db, m: LoadedMessage): Promise<GateResult> {
    if (!m.spike_protection_enabled || m.passed_at !== null) return PASSED;
    const { passed, room } = await this.repository.spike(db, m.inbox_id);
    return passed >= room ? held('spike', { in_ten_minutes: passed, expected_at_most: room }) : PASSED;
  }
}

const rowOf = (watch: Stopwatch, gate: string, result: GateResult): TraceRow => {
  const outcome = 'stopped' in result ? result.stopped.state : result.outcome;
  return watch.row({ stage_id: gate, kind: 'gate', outcome, matched: 'stopped' in result, detail: result.detail ?? null });
};

const hasRates = (m: LoadedMessage): boolean =>
  m.spike_protection_enabled || [m.rate_limit_per_sender_per_minute, m.rate_limit_per_sender_per_hour].some((limit) => limit !== null);

/** Bounded, or a long header takes quadratic time. */
const ADDRESS = /[^\s<>@]{1,64}@[^\s<>@]{1,255}/;

/** What comes from an inbox of this installation would go round and round. */
function loop(m: LoadedMessage, { auto_submitted }: Gates): GateResult {
  const [reversePath = null] = ADDRESS.exec(m.headers['return-path'] ?? '') ?? [];
  if (m.channel_kind === 'email' && [m.sender_address, reversePath].some((address) => address !== null && placeOf(address) !== null))
    return dropped({ reason: 'own_address' });
  return m.automatic === null ? PASSED : by(auto_submitted, { reason: m.automatic });
}

function status(m: LoadedMessage): GateResult {
  if (m.inbox_deleted) return dropped({ reason: 'inbox_deleted' });
  if (m.org_suspended) return held('org_suspended');
  return m.inbox_status === 'active' ? PASSED : held('inbox_paused');
}
