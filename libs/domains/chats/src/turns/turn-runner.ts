import { Injectable, Logger } from '@nestjs/common';
import { AgentRevisions, type SealedAgentConfig } from '@aps/agents';
import { chatTopic, type JobPayload } from '@aps/contracts';
import { DecisionLog } from '@aps/decisions';
import type { TurnWait } from '@aps/entities';
import { InferenceError, type ResolvedModel } from '@aps/inference';
import { Database } from '@aps/platform/database';
import { counter, durationHistogram } from '@aps/platform/observability';
import type { JobContext } from '@aps/platform/queues';
import { RealtimePublisher } from '@aps/platform/realtime';
import { inSpan, type Span } from '@aps/platform/tracing';
import type { TranscriptRow } from '../chat.types';
import { LeaseEnded, Leases, type Lease } from './leases';
import { ModelStepRunner } from './model-step';
import { ToolStepRunner } from './tool-step';
import { openCalls } from './transcript';
import { TurnClaims, type OwnedTurn } from './turn-claims';
import { TurnBlocked, TurnEndings } from './turn-endings';
import { TurnSignals } from './turn-signals';
import { TurnRepository } from './turn.repository';

/** A turn under way, in memory. */
export interface RunningTurn {
  readonly claim: OwnedTurn;
  readonly config: SealedAgentConfig;
  readonly lease: Lease;
  /** Whether its organization records decisions and asks for them. */
  readonly decisionLog: boolean;
  /** The messages that the model sees, own ones included; grows with every step. */
  readonly rows: TranscriptRow[];
  /** Steps that are finished; since they end in their order, the next one has the number after it. */
  stepsDone: number;
  /** Model steps of this turn so far. */
  modelSteps: number;
  /** What the turn waits for: calls that are being made, or, with `since`, those of a wait that is over. */
  wait: TurnWait | null;
  /** The model of this turn, once it is known. */
  model?: ResolvedModel;
  /** Tells the chat's readers what happens. */
  readonly signals: TurnSignals;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
}

const duration = durationHistogram('turn_duration_seconds', 'Time from the claim of a turn to its end', ['outcome']);
const waited = durationHistogram('org_queue_delay_seconds', 'Time from the dispatch of a turn to its claim');
const redelivered = counter('lease_expired_total', 'Turns that were claimed again after their owner had gone silent');

/**
 * Runs turns. A turn goes on from what its journal says, so it makes no difference whether this is its first delivery, or its owner
 * died after any of its steps.
 */
@Injectable()
export class TurnRunner {
  private readonly logger = new Logger('TurnRunner');

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly claims: TurnClaims,
    private readonly endings: TurnEndings,
    private readonly leases: Leases,
    private readonly revisions: AgentRevisions,
    private readonly decisionLog: DecisionLog,
    private readonly modelSteps: ModelStepRunner,
    private readonly toolSteps: ToolStepRunner,
    private readonly realtime: RealtimePublisher,
  ) {}

  async run(payload: JobPayload<'turn.run'>, context: JobContext): Promise<void> {
    const claim = await this.claims.claim(payload);
    if (!claim) return;
    const attributes = {
      'aps.org.id': claim.org_id,
      'aps.agent.id': claim.agent_id,
      'aps.chat.id': claim.chat_id,
      'aps.turn.id': claim.id,
      'aps.turn.steps_done': claim.steps_done,
    };
    await inSpan('turn', { attributes }, (span) => this.own(claim, context, span));
  }

  private async own(claim: OwnedTurn, context: JobContext, span: Span): Promise<void> {
    const started = performance.now();
    if (claim.lease_expired) redelivered.inc();
    else if (!claim.taken_over && claim.steps_done === 0 && claim.deliveries === 0)
      waited.observe(Math.max(0, this.db.now().getTime() - claim.dispatched_at.getTime()) / 1000);
    const lease = this.leases.hold(claim, context.signal);
    let outcome = 'error';
    try {
      // Whatever has become of it is written down by an owner.
      outcome = await this.drive(claim, lease, context).finally(() => claim.committed);
    } catch (error) {
      outcome = await this.onError(claim, error, context);
    } finally {
      lease.release();
      span.setAttribute('aps.outcome', outcome);
      duration.observe({ outcome }, (performance.now() - started) / 1000);
    }
  }

  /**
   * A model can be asked for the first time while the claim is still being committed. Nobody is told of that, and everything else waits
   * for the commit.
   */
  private async drive(claim: OwnedTurn, lease: Lease, context: JobContext): Promise<string> {
    if (claim.steps_done > 0 || claim.taken_over) await claim.committed;
    const [config, decisionLog] = await Promise.all([this.revisions.config(claim.agent_revision_id), this.decisionLog.isOn(claim.org_id)]);
    const rows = claim.transcript ?? (await this.turns.transcript(this.db, claim));
    const topic = chatTopic(claim.chat_id);
    const signals = new TurnSignals((signal) => this.realtime.publish(topic, signal), claim.committed);
    if (claim.chat_status !== 'RUNNING') {
      const data = { from: claim.chat_status, to: 'RUNNING', stop_reason: null, pause: null };
      signals.event({ id: claim.event_seq + 1, type: 'status_changed', at: claim.claimed_at.toISOString(), data });
    }
    const turn: RunningTurn = {
      signals,
      claim,
      config,
      lease,
      decisionLog,
      rows,
      stepsDone: claim.steps_done,
      modelSteps: claim.model_steps,
      wait: claim.wait,
      requestId: context.requestId,
      traceparent: context.traceparent,
    };

    for (;;) {
      lease.signal.throwIfAborted();
      // A step is never begun by a process that is about to end.
      if (context.signal.aborted) throw new LeaseEnded('shutdown');
      if (turn.wait?.since) await this.toolSteps.completeWait(turn);
      const calls = turn.modelSteps > 0 ? openCalls(turn.rows) : [];
      if (calls.length > 0) {
        if ((await this.toolSteps.run(turn, calls)) === 'waiting') return 'waiting';
        continue;
      }
      if ((await this.modelSteps.run(turn)) === 'finished') return 'done';
    }
  }

  private async onError(claim: OwnedTurn, error: unknown, context: JobContext): Promise<string> {
    const ended = error instanceof LeaseEnded ? error : undefined;
    switch (ended?.reason) {
      case 'stopped':
      case 'lost':
        // Whoever stopped or took the turn has written down how it goes on.
        return ended.reason;
      case 'shutdown':
        await this.turns.release(this.db, claim);
        return 'handed_back';
      case 'org_suspended':
        await this.endings.suspended(claim);
        return 'org_suspended';
      default:
    }
    const blocked = asBlocked(error);
    if (blocked) {
      await this.endings.blocked(claim, blocked);
      return 'blocked';
    }
    const failure = this.endings.asChatError(error);
    if (!failure) {
      // A fault of ours or of the database: the lease ends, and the next delivery goes on from the journal.
      this.logger.error({
        msg: 'Turn interrupted',
        turn_id: claim.id,
        request_id: context.requestId,
        error: (error as Error)?.stack ?? String(error),
      });
      await this.turns.release(this.db, { id: claim.id, fence: claim.fence }, false).catch(() => undefined);
      throw error;
    }
    this.logger.warn({ msg: 'Turn failed', turn_id: claim.id, request_id: context.requestId, code: failure.code });
    await this.endings.failed(claim, failure);
    return 'failed';
  }
}

/** Whoever is out of credits may buy some: that ends no chat. */
function asBlocked(error: unknown): TurnBlocked | undefined {
  if (error instanceof TurnBlocked) return error;
  if (error instanceof InferenceError && error.code === 'credits_exhausted') return new TurnBlocked(error.code, error.message);
  return undefined;
}
