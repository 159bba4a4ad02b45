import { Injectable } from '@nestjs/common';
import { Money, text } from '@aps/billing';
import type { HeldFor, TraceRow } from '@aps/entities';
import { Database, isConnectionLoss, NO_CALLER, whenCommitted, type Db, type Tx } from '@aps/platform/database';
import { counter, durationHistogram } from '@aps/platform/observability';
import type { Lease } from '@aps/platform/runs';
import { factsOf } from '../messages/message-facts.convert';
import { MessageLog } from '../messages/message-log';
import type { CompiledRules } from '../rules/rule-set.compile';
import type { ClassifierStage, Target } from '../rules/rule-set.schema';
import { RuleSets } from '../rules/rule-sets';
import { afterClassifier, type ClassifierAnswer, type StageResult, type Verdict } from '../rules/verdict.policy';
import { Classifier, NotAsked, type Asking } from './classifier';
import { EvaluationRepository, InboxDeleted, type ClaimedMessage, type Settled } from './evaluation.repository';
import type { LoadedMessage } from './evaluation.sql';
import { GateKeeper } from './gates';
import { Handoff } from './handoff';
import { Stopwatch } from './trace';

const settled = counter(
  'inbox_messages_settled_total',
  'Messages whose evaluation has ended, by what came of it',
  ['state', 'reason'],
  [{ state: 'failed', reason: '' }],
);
const took = durationHistogram('inbox_evaluation_seconds', 'Time from the receipt of a message to the end of its first evaluation', [
  'state',
]);

/** The handler of an accepted message could not be begun, for a reason that is nobody's verdict. */
export class HandoffFailed extends Error {
  /** By which a transaction knows that it may simply be run again. */
  readonly code = (this.cause as { code?: string } | null)?.code;

  constructor(
    override readonly cause: unknown,
    readonly accepted: Pick<Settled, 'decided_by' | 'tags'>,
    /** Rows of the trace that are not written yet. */
    readonly rows: TraceRow[],
  ) {
    super('The handler of a message could not be begun');
  }
}

/** What an evaluation has before its next step: rows that no step has written, what the message is tagged with, and the stage that comes. */
interface Progress {
  rows: TraceRow[];
  tags: string[];
  from: number;
  /** It passes the rates with this step. */
  passes?: boolean;
}

/**
 * Evaluates messages: gates, then stages, then the handler. What asks no model is one transaction, verdict and handler included; each answer of
 * a model is recorded with what follows from it, or alone where a handler cannot be begun, so whoever goes on does so behind it.
 */
@Injectable()
export class Evaluation {
  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly gates: GateKeeper,
    private readonly ruleSets: RuleSets,
    private readonly classifier: Classifier,
    private readonly handoff: Handoff,
    private readonly log: MessageLog,
  ) {}

  /** @returns what came of it, in a word for metrics */
  async run(run: ClaimedMessage, m: LoadedMessage, lease: Lease): Promise<string> {
    const rules = await this.ruleSets.of(m.org_id, m.revision_id);
    const facts = factsOf(m, m);
    const answers = run.steps_done > 0 ? answersIn(await this.repository.traceOf(this.db, m)) : null;
    let progress: Progress = { rows: [], tags: facts.tags, from: 0 };
    const isRelease = m.evaluation_cause === 'release';
    if (m.org_suspended && (answers || isRelease)) return this.holdSuspended(run, m, isRelease ? m.tags : facts.tags);
    if (!answers) {
      const state = await this.firstStep(run, m, rules);
      if (typeof state === 'string') return state;
    }
    for (;;) {
      const evaluation = rules.evaluate(facts, progress.from, progress.tags);
      if (!('classifier' in evaluation.end)) return this.handOnAgain(run, m, evaluation.tags, evaluation.end);
      const { classifier: stage, index } = evaluation.end;
      const known = answers?.get(stage.id);
      if (known !== undefined) {
        const { tags, verdict } = afterClassifier(stage, known, evaluation.tags);
        if (verdict) return this.handOnAgain(run, m, tags, verdict);
        progress = { rows: [], tags, from: index + 1 };
        continue;
      }
      lease.requireNext();
      if (await this.repository.isSuspended(this.db, m.org_id)) return this.holdSuspended(run, m, evaluation.tags);
      const state = await this.askOrHold(run, m, evaluation.tags, stage, lease, (asking, watch) =>
        this.step(async (tx) => {
          const { row, tags, verdict } = afterClassifier(stage, asking.answer, evaluation.tags);
          const rows = [{ ...watch.row(row), classifier: asking.told }];
          const outcome = verdict
            ? await this.settle(tx, run, m, { rows, tags }, verdict)
            : await this.goOn(tx, run, m, rules, { rows, tags, from: index + 1 });
          // What it burns is taken under the lock of the organization's credits.
          await asking.charge(tx);
          return outcome ?? tags;
        }).catch(async (error: unknown) => {
          if (!(error instanceof HandoffFailed)) throw error;
          await this.step(async (tx) => {
            await this.stepDone(tx, run, m, error.rows);
            await asking.charge(tx);
          });
          throw new HandoffFailed(error.cause, error.accepted, []);
        }),
      );
      if (typeof state === 'string') return state;
      progress = { rows: [], tags: state, from: index + 1 };
    }
  }

  /** Its organization was suspended behind the gate. What a human has released is not judged anew when it goes on. */
  private holdSuspended(run: ClaimedMessage, m: LoadedMessage, tags: string[]): Promise<string> {
    const [row, end] = this.gates.since('org_suspended');
    const target = targetOf(m);
    const byHand = m.evaluation_cause === 'release' && { held_for: { by_hand: true as const, ...(target && { target }) } };
    return this.write(this.db, run, m, [row], { ...end, tags, ...byHand });
  }

  /** Where all classifiers have answered, and what follows from that is in the trace, only a handler that could not be begun is left to do. */
  private handOnAgain(run: ClaimedMessage, m: LoadedMessage, tags: string[], verdict: Verdict): Promise<string> {
    return this.settle(this.db, run, m, { rows: [], tags }, verdict);
  }

  /** Its handler could not be begun, as often as that is tried. */
  async giveUpHandler(run: ClaimedMessage, m: LoadedMessage, { accepted, rows }: HandoffFailed): Promise<void> {
    await this.step((tx) => {
      const row = new Stopwatch(this.db.now()).row({ stage_id: 'dispatch', kind: 'dispatch', outcome: 'failed' });
      return this.write(tx, run, m, [...rows, row], { state: 'failed', verdict: 'accepted', hold_reason: null, ...accepted });
    });
  }

  /** Its handler was not begun, since its inbox was deleted meanwhile. */
  async dropOfDeleted(run: ClaimedMessage, m: LoadedMessage, { accepted: { tags }, rows }: HandoffFailed): Promise<void> {
    await this.step((tx) => {
      const [row, end] = this.gates.since('inbox_deleted');
      return this.write(tx, run, m, [...rows, row], { ...end, tags });
    });
  }

  /** One that its workers were lost with again and again may be what loses them: a human looks at it. */
  async giveUp(run: ClaimedMessage): Promise<void> {
    const isHeld = await this.step(async (tx) => {
      if (!(await this.repository.giveUp(tx, run))) return false;
      const row = new Stopwatch(this.db.now()).row({ stage_id: 'worker_lost', kind: 'gate', outcome: 'held', matched: true });
      await this.repository.trace(tx, run, [row]);
      await this.log.changed(tx, [run.id]);
      return true;
    });
    if (isHeld) settled.inc({ state: 'held', reason: 'worker_lost' });
  }

  private step<T>(act: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.transaction(NO_CALLER, act);
  }

  private firstStep(run: ClaimedMessage, m: LoadedMessage, rules: CompiledRules): Promise<string | null> {
    if (m.evaluation_cause === 'release') return this.step((tx) => this.released(tx, run, m));
    return this.gates.within(m, async (db, planLimit) => {
      const { rows, end, passes } = await this.gates.ask(db, m, rules.ruleSet.gates, planLimit);
      if (end) return this.write(db, run, m, rows, { ...end, tags: [], passes });
      return (await this.goOn(db, run, m, rules, { rows, tags: [], from: 0, passes })) ?? null;
    });
  }

  /** By a human's hand, past gates and stages, to whom that human has said, if to anybody. */
  private released(tx: Tx, run: ClaimedMessage, m: LoadedMessage): Promise<string> {
    const verdict: Verdict = {
      verdict: 'accepted',
      state: 'accepted',
      hold_reason: null,
      target: targetOf(m),
      decided_by: 'manual_release',
    };
    return this.settle(tx, run, m, { rows: [], tags: m.tags }, verdict);
  }

  /** Runs stages up to the next classifier, if there is one. @returns what came of it where there is none */
  private async goOn(
    db: Db,
    run: ClaimedMessage,
    m: LoadedMessage,
    rules: CompiledRules,
    { rows, tags, from, passes = false }: Progress,
  ): Promise<string | undefined> {
    const at = this.db.now();
    const { rows: results, tags: after, end } = rules.evaluate(factsOf(m, m), from, tags);
    const all = [...rows, ...results.map((result) => traced(at, result))];
    if (!('classifier' in end)) return this.settle(db, run, m, { rows: all, tags: after, passes }, end);
    await db.transaction(NO_CALLER, (tx) => this.stepDone(tx, run, m, all, passes));
    return undefined;
  }

  private async stepDone(tx: Tx, run: ClaimedMessage, m: LoadedMessage, rows: TraceRow[], passes = false): Promise<void> {
    await this.repository.stepDone(tx, run, passes);
    await this.repository.trace(tx, m, rows);
  }

  /** Writes the verdict of the stages, and begins the handler of what is accepted. */
  private async settle(
    db: Db,
    run: ClaimedMessage,
    m: LoadedMessage,
    { rows, ...progress }: Omit<Progress, 'from'>,
    { target, ...verdict }: Verdict,
  ): Promise<string> {
    const end = { ...verdict, ...progress };
    if (end.state !== 'accepted') return this.write(db, run, m, rows, end);
    const watch = new Stopwatch(this.db.now());
    const row = (of: Pick<TraceRow, 'outcome' | 'detail'>) => watch.row({ stage_id: 'dispatch', kind: 'dispatch', ...of });
    const to = target ?? (m.target_kind && m.target_id ? { kind: m.target_kind, id: m.target_id } : null);
    const failed = (error: unknown) => new HandoffFailed(error, { decided_by: end.decided_by, tags: end.tags }, rows);
    return db.transaction(NO_CALLER, async (tx) => {
      const handed = await this.handoff.toHandler(tx, m, to).catch((error: unknown) => {
        throw isConnectionLoss(error) ? error : failed(error);
      });
      if ('refused' in handed) {
        const { refused: hold_reason, until } = handed;
        const isByHand = m.evaluation_cause === 'release';
        const isFor = target && (isByHand || until?.refused) ? { target } : {};
        const held_for: HeldFor = { ...until, ...(isByHand && { by_hand: true }), ...isFor };
        const refused = row({ outcome: 'held', detail: { reason: hold_reason, ...(until?.refused && { target: to }), ...until } });
        return this.write(tx, run, m, [...rows, refused], { ...end, state: 'held', verdict: 'quarantined', hold_reason, held_for });
      }
      const dispatched = row({ outcome: 'dispatched', detail: handed.detail });
      return this.write(tx, run, m, [...rows, dispatched], { ...end, dispatched: handed }).catch((error: unknown) => {
        throw error instanceof InboxDeleted ? failed(error) : error;
      });
    });
  }

  private async write(db: Db, run: ClaimedMessage, m: LoadedMessage, rows: TraceRow[], to: Settled): Promise<string> {
    const at = this.db.now();
    const told = await this.repository.settle(db, run, to, rows, at);
    await this.log.tell(db, [told], at);
    await whenCommitted(db, () => {
      if (told.parked) void this.repository.runs.fillSlot(this.db, m.org_id);
      settled.inc({ state: to.state, reason: to.hold_reason ?? '' });
      if (m.evaluation_cause === 'arrival')
        took.observe({ state: to.state }, Math.max(0, this.db.now().getTime() - m.received_at.getTime()) / 1000);
    });
    return to.state;
  }

  /** Asks a classifier where that may be, and does what follows; else the message is held. */
  private async askOrHold<T>(
    run: ClaimedMessage,
    m: LoadedMessage,
    tags: string[],
    stage: ClassifierStage,
    lease: Lease,
    then: (asking: Asking, watch: Stopwatch) => Promise<T>,
  ): Promise<string | T> {
    const watch = new Stopwatch(this.db.now());
    try {
      return await this.classifier.ask(run, m, stage, lease.signal, (asking) => then(asking, watch));
    } catch (error) {
      if (!(error instanceof NotAsked)) throw error;
      const { reason: hold_reason } = error;
      const held_for = await this.needed(m, error);
      const row = watch.row({ stage_id: stage.id, kind: 'classifier', outcome: 'held', detail: { reason: hold_reason, ...held_for } });
      return this.step((tx) =>
        this.write(tx, run, m, [row], { state: 'held', verdict: 'quarantined', hold_reason, held_for, decided_by: stage.id, tags }),
      );
    }
  }

  /** What has to be there before it is evaluated anew, which makes all calls again: those that it has made, and the one that it is held for. */
  private async needed(m: LoadedMessage, { reason, until }: NotAsked): Promise<HeldFor | undefined> {
    const made = asked(await this.repository.traceOf(this.db, m));
    if (reason === 'classifier_quota') return { calls: made.reduce((sum, { calls = 1 }) => sum + calls, 1) };
    return until?.credits ? { credits: text(Money.sum(until.credits, ...made.map(({ cost_credits }) => cost_credits))) } : until;
  }
}

/** To whom the human who has released a message has said that it goes, if to anybody. */
const targetOf = ({ wait }: LoadedMessage): Target | null => (wait as { target?: Target } | null)?.target ?? null;

const traced = (at: Date, { stage_id, kind, matched, outcome, detail }: StageResult): TraceRow =>
  new Stopwatch(at).row({ stage_id, kind, matched, outcome, detail });

/** What classifiers have said in an evaluation, by stage; null where one had no answer. */
function answersIn(trace: TraceRow[]): Map<string, ClassifierAnswer | null> {
  return new Map(
    asked(trace).map(({ stage_id, label, confidence }) => [stage_id, label === null ? null : { label, confidence: confidence! }]),
  );
}

const asked = (trace: TraceRow[]) =>
  trace.flatMap(({ kind, stage_id, classifier }) => (kind === 'classifier' && classifier ? [{ ...classifier, stage_id }] : []));
