import { Injectable, Logger } from '@nestjs/common';
import { AgentContexts } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { chatTopic, type JobPayload } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import { InferenceError } from '@aps/inference';
import { Database, type Tx } from '@aps/platform/database';
import type { JobContext } from '@aps/platform/queues';
import { RealtimePublisher } from '@aps/platform/realtime';
import { MAX_DELIVERIES, RunKind, RunSweeper, type Claiming, type Lease } from '@aps/platform/runs';
import { ChatLog } from '../state/chat-log';
import { numbered, statusChanged, type ChatError, type Pause } from '../state/chat.types';
import { ModelStepRunner } from './model-step';
import type { OwnedTurn, RunningTurn } from './running-turn';
import { ToolStepRunner } from './tool-step';
import { openCalls } from './transcript';
import { TurnBlocked, TurnEndings } from './turn-endings';
import { TurnBudgets } from './turn-budgets';
import { TurnSignals } from './turn-signals';
import { TurnTools } from './turn-tools';
import { TurnRepository, type ClaimedTurn, type TurnAnswer, type TurnRefusal } from './turn.repository';
import { AWAIT_WRITER, CLAIM } from './turn.sql';

/** A turn is one answer of an agent: models are asked and tools called until there is nothing left to call. */
@Injectable()
export class TurnKind extends RunKind<'turn.run', ClaimedTurn, TurnRefusal> {
  private readonly logger = new Logger('TurnKind');
  readonly rows = this.turns.runs;
  protected readonly claim = CLAIM;

  constructor(
    protected readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly endings: TurnEndings,
    private readonly entitlements: Entitlements,
    private readonly log: ChatLog,
    private readonly contexts: AgentContexts,
    private readonly tools: TurnTools,
    private readonly modelSteps: ModelStepRunner,
    private readonly toolSteps: ToolStepRunner,
    private readonly realtime: RealtimePublisher,
    private readonly budgets: TurnBudgets,
    sweeper: RunSweeper,
  ) {
    super();
    sweeper.register(this);
  }

  async capOf(orgId: string): Promise<number> {
    return (await this.entitlements.of(orgId)).max_concurrent_chats;
  }

  claiming({ turn_id, chat_id }: JobPayload<'turn.run'>): Pick<Claiming, 'run_id' | 'key'> {
    return { run_id: turn_id, key: chat_id };
  }

  async awaitWriter({ chat_id }: JobPayload<'turn.run'>): Promise<void> {
    await this.db.query(AWAIT_WRITER, [chat_id]);
  }

  async park(tx: Tx, turns: TurnAnswer[], at: Date): Promise<void> {
    const pause: Pause = { kind: 'queued', since: at.toISOString() };
    for (const turn of turns) {
      if (await this.turns.park(tx, turn, pause, at))
        await this.log.tell(tx, turn.chat_id, [statusChanged(turn.chat_status, 'ACTIVE', { pause })], at);
    }
  }

  refuse(turn: TurnAnswer, why: TurnRefusal | 'lost'): Promise<void> {
    switch (why) {
      case 'agent_deleted':
      case 'member_left':
      case 'unshared':
        return this.endings.barred(turn, why);
      case 'skipped':
        return this.endings.skipped(turn);
      case 'lost':
        return this.endings.lost(turn);
    }
  }

  attributesOf({ agent_id, chat_id, id }: ClaimedTurn): Record<string, string> {
    return { 'aps.agent.id': agent_id, 'aps.chat.id': chat_id, 'aps.turn.id': id };
  }

  /**
   * A model can be asked for the first time while the claim is still being committed. Nobody is told of that, and everything else waits
   * for the commit.
   */
  async drive(claim: OwnedTurn, lease: Lease, context: JobContext): Promise<'waiting' | 'done'> {
    if (claim.steps_done > 0 || claim.taken_over) await claim.committed;
    const turn = await this.begin(claim, lease, context);
    for (;;) {
      lease.requireNext();
      if (turn.wait?.since) await this.toolSteps.completeWait(turn);
      const calls = turn.modelSteps > 0 ? openCalls(turn.rows) : [];
      if (calls.length > 0) {
        if ((await this.toolSteps.run(turn, calls)) === 'waiting') return 'waiting';
        continue;
      }
      if ((await this.modelSteps.run(turn)) === 'finished') return 'done';
    }
  }

  private async begin(claim: OwnedTurn, lease: Lease, { requestId, traceparent }: JobContext): Promise<RunningTurn> {
    const { agent_id, agent_revision_id, agent_belongs: belongs } = claim;
    const config = await this.contexts.of(OrgScope.system(claim.org_id, 'turn'), agent_id, agent_revision_id, { belongs });
    const tools = await this.tools.of(claim, config);
    const rows = claim.transcript ?? (await this.turns.transcript(this.db, claim));
    const topic = chatTopic(claim.chat_id);
    const signals = new TurnSignals((signal) => this.realtime.publish(topic, signal), claim.committed);
    if (claim.chat_status !== 'RUNNING') {
      const [begun] = numbered([statusChanged(claim.chat_status, 'RUNNING')], claim.event_seq, claim.claimed_at);
      signals.event(begun);
    }
    return {
      signals,
      claim,
      config,
      lease,
      budget: this.budgets.of(claim),
      tools,
      rows,
      stepsDone: claim.steps_done,
      modelSteps: claim.model_steps,
      wait: claim.wait,
      requestId,
      traceparent,
    };
  }

  suspend(turn: OwnedTurn): Promise<void> {
    return this.endings.suspended(turn);
  }

  async fail(turn: OwnedTurn, error: unknown, { requestId }: JobContext): Promise<'blocked' | 'failed' | 'unsuccessful' | null> {
    const blocked = asBlocked(error);
    if (blocked) {
      await this.endings.blocked(turn, blocked);
      return 'blocked';
    }
    const failure = this.endings.asChatError(error);
    if (!failure && turn.deliveries + 1 < MAX_DELIVERIES) return null;
    const { code } = failure ?? FAULT_OF_OURS;
    this.logger.warn({
      msg: 'Turn failed',
      turn_id: turn.id,
      request_id: requestId,
      code,
      ...(!failure && { error: (error as Error)?.stack }),
    });
    await this.endings.failed(turn, failure ?? FAULT_OF_OURS);
    // Nobody is called for what an organization has set, or asks.
    return error instanceof InferenceError && error.isOfOrganization ? 'unsuccessful' : 'failed';
  }
}

/** What was tried so often as a lost turn is: its workers are there, and cannot do it. */
const FAULT_OF_OURS: ChatError = { code: 'internal', message: 'The turn could not go on by a fault of ours.', retryable: true };

/** Whoever is out of credits may buy some: that ends no chat. */
function asBlocked(error: unknown): TurnBlocked | undefined {
  if (error instanceof TurnBlocked) return error;
  if (error instanceof InferenceError && error.code === 'credits_exhausted') return new TurnBlocked(error.code, error.message);
  return undefined;
}
