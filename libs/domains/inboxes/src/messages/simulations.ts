import { setImmediate as letOthersIn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Money, text } from '@aps/billing';
import { DomainError } from '@aps/contracts';
import { Inbox } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Holds, InferenceError, ModelResolver, type ResolvedModel } from '@aps/inference';
import { Database, OneByOne, OrgTable } from '@aps/platform/database';
import type { Decimal } from 'decimal.js';
import { CLASSIFIER_FEATURE, classifierCall } from '../rules/classifier-call';
import type { MessageFacts } from '../rules/message-facts';
import { refuseProblems, storedRuleSet } from '../rules/revision.policy';
import { RevisionsService } from '../rules/revisions.service';
import { patternProblems } from '../rules/rule-set.check';
import { compile, type CompiledRules } from '../rules/rule-set.compile';
import type { ClassifierStage, Target } from '../rules/rule-set.schema';
import { RuleSets } from '../rules/rule-sets';
import { answersTo, endedAtGate, simulate, type Simulated } from '../rules/simulate.policy';
import { factsOf } from './message-facts.convert';
import { RECENT, TRACED, type TracedMessage } from './simulations.sql';

/** Messages may carry megabytes: so many are held at a time. */
const BATCH = 10;
/** No batch is begun after it. */
const MAX_MS = 10_000;
/** Of an organization: one that is run, and those that wait for it. */
const AT_ONCE = 3;

/** What becomes of a message, or what has to be asked before that can be said. */
export interface SimulatedEnd {
  verdict: TracedMessage['verdict'];
  state: TracedMessage['state'] | null;
  decided_by: string | null;
  target: Target | null;
  needs: 'classifier' | null;
}

export interface SimulatedMessageView {
  message_id: string;
  before: SimulatedEnd;
  after: SimulatedEnd;
  changed: boolean;
}

export interface Simulation {
  revision_id: string;
  compared_with: string | null;
  total: number;
  changed: number;
  skipped_expired: number;
  truncated: boolean;
  classifier: { recorded: number; missing: number; estimated_credits: string | null };
  items: SimulatedMessageView[];
}

/** Which messages: those of so many hours, the newest so many of them. */
export interface SimulatedRange {
  within_hours?: number;
  limit?: number;
}

/**
 * Tries a revision on messages that have come: what its stages would make of each, against what those of the live one make of it. Gates decide as
 * they did then, and classifiers answer what they did then. Reads alone.
 */
@Injectable()
export class Simulations {
  private readonly inboxes = new OrgTable(Inbox, 'Inbox');
  /** An organization's own wait for each other: each takes as much of the process as there is between the requests of others. */
  private readonly turns = new OneByOne();
  private readonly underWay = new Map<string, number>();

  constructor(
    private readonly db: Database,
    private readonly revisions: RevisionsService,
    private readonly ruleSets: RuleSets,
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
  ) {}

  /**
   * @param signal aborted when nobody waits for it any more
   * @throws DomainError `not_found`; 422 `revision_invalid` of one whose patterns cannot be run; 429 `rate_limited` where too many wait; the reason of the signal
   */
  async run(scope: OrgScope, inboxId: string, revisionId: string, range: SimulatedRange, signal: AbortSignal): Promise<Simulation> {
    const { definition } = await this.revisions.get(scope, inboxId, revisionId);
    const { current_revision_id } = await this.inboxes.get(this.db, scope, inboxId);
    const ruleSet = storedRuleSet(definition);
    refuseProblems(patternProblems(ruleSet));
    return this.inTurn(scope.orgId, async () => ({
      revision_id: revisionId,
      compared_with: current_revision_id,
      ...(await this.over(scope, inboxId, range, compile(ruleSet), current_revision_id, signal)),
    }));
  }

  private async inTurn<T>(orgId: string, work: () => Promise<T>): Promise<T> {
    const others = this.underWay.get(orgId) ?? 0;
    if (others >= AT_ONCE)
      throw new DomainError('rate_limited', 'Other rule sets are being tried right now. Try again.', { retryAfterS: 5 });
    this.underWay.set(orgId, others + 1);
    try {
      return await this.turns.run(orgId, work);
    } finally {
      const left = this.underWay.get(orgId)! - 1;
      if (left) this.underWay.set(orgId, left);
      else this.underWay.delete(orgId);
    }
  }

  private async over(
    { orgId }: OrgScope,
    inboxId: string,
    { within_hours = 24, limit = 200 }: SimulatedRange,
    tried: CompiledRules,
    liveId: string | null,
    signal: AbortSignal,
  ): Promise<Omit<Simulation, 'revision_id' | 'compared_with'>> {
    signal.throwIfAborted();
    const until = performance.now() + MAX_MS;
    const live = await this.ruleSets.of(orgId, liveId);
    const found = await this.db.query(RECENT, [orgId, inboxId, within_hours, limit]);
    const ids = found.filter(({ kept }) => kept).map(({ id }) => id);
    const items: SimulatedMessageView[] = [];
    const missing = new MissingCalls(await this.holds.estimator(orgId, CLASSIFIER_FEATURE), (stage) => this.modelOf(orgId, stage));
    let recorded = 0;
    let read = 0;
    for (; read < ids.length && performance.now() < until; read += BATCH) {
      for (const message of await this.db.query(TRACED, [orgId, ids.slice(read, read + BATCH)])) {
        await letOthersIn();
        signal.throwIfAborted();
        if (endedAtGate(message.trace, message.decided_by)) {
          items.push({ message_id: message.id, before: endOf(message), after: endOf(message), changed: false });
          continue;
        }
        const asked = await this.ruleSets.of(orgId, message.revision_id);
        const facts = factsOf(message, message);
        const before = simulate(facts, answersTo(live, message.trace, asked), live);
        const after = simulate(facts, answersTo(tried, message.trace, asked), tried);
        recorded += after.recorded;
        if (after.missing) await missing.add(after.missing, facts);
        items.push({
          message_id: message.id,
          // What a classifier did not answer is known where the message was judged by the live rules: by what became of it.
          before: before.end || message.revision_id !== liveId ? shown(before) : endOf(message),
          after: shown(after),
          changed: before.end !== null && after.end !== null && !isSame(before.end, after.end),
        });
      }
    }
    return {
      total: items.length,
      changed: items.filter(({ changed }) => changed).length,
      skipped_expired: found.length - ids.length,
      truncated: read < ids.length,
      classifier: { recorded, missing: missing.count, estimated_credits: missing.credits },
      items,
    };
  }

  /** @returns null where none can be called */
  private modelOf(orgId: string, { model }: ClassifierStage): Promise<ResolvedModel | null> {
    return this.resolver.resolve({ orgId, scope: CLASSIFIER_FEATURE, requested: { messageModel: model } }).catch((error: unknown) => {
      if (error instanceof InferenceError) return null;
      throw error;
    });
  }
}

/** Calls of classifiers that were never made, and what they may cost. */
class MissingCalls {
  count = 0;
  private total: Decimal | null;
  private readonly models = new Map<string, ResolvedModel | null>();

  /** @param estimate null where no credits are paid */
  constructor(
    private readonly estimate: Awaited<ReturnType<Holds['estimator']>>,
    private readonly modelOf: (stage: ClassifierStage) => Promise<ResolvedModel | null>,
  ) {
    this.total = estimate && new Money(0);
  }

  get credits(): string | null {
    return this.total && text(this.total);
  }

  async add(stage: ClassifierStage, facts: MessageFacts): Promise<void> {
    this.count += 1;
    if (!this.estimate || !this.total) return;
    if (!this.models.has(stage.id)) this.models.set(stage.id, await this.modelOf(stage));
    const model = this.models.get(stage.id);
    this.total = model ? this.total.plus(this.estimate(model, classifierCall(stage, facts))) : null;
  }
}

/** As it is stored. */
const endOf = ({ verdict, state, decided_by }: TracedMessage): SimulatedEnd => ({ verdict, state, decided_by, target: null, needs: null });

const shown = ({ end }: Simulated): SimulatedEnd =>
  end ? { ...end, needs: null } : { verdict: null, state: null, decided_by: null, target: null, needs: 'classifier' };

type End = NonNullable<Simulated['end']>;
const isSame = (a: End, b: End): boolean =>
  a.verdict === b.verdict && a.state === b.state && a.target?.kind === b.target?.kind && a.target?.id === b.target?.id;
