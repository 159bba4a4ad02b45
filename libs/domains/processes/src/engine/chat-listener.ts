import { Injectable } from '@nestjs/common';
import { ChatEnds, ChatsQueries, ContinueService, RunQuestions, type ChatEnd, type EndListener, type RunAsker } from '@aps/chats';
import type { HitlRequest, Resolution, StepError } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { storable, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { ADD_AGENT_CALL, TURN_COSTS } from './agent-calls.sql';
import { stepError } from './journal';
import { JournalRepository } from './journal.repository';
import { STEP_OF_CHAT } from './process-run.sql';
import { Wakes } from './wakes';

/** A turn that has ended with its chat while nobody waited for it any more. */
interface CutTurn {
  step: { id: string; run_id: string };
  chatId: string;
  turnId: string;
}

/** Reasons for which chats are closed that steps know by themselves. */
const REFUSED: Record<string, { code?: string; message: string } | undefined> = {
  credits_exhausted: { message: 'This organization is out of credits.' },
  model_unpriced: { code: 'model_unavailable', message: 'The model of the agent has no price.' },
};

/** Hears of what steps wait for in the domain of chats: what agents have said, and what humans have answered. */
@Injectable()
export class ChatListener implements EndListener, RunAsker {
  readonly origins = ['process'] as const;
  /** Transactions that end chats of their own, while they do. */
  private readonly deafened = new WeakSet<Tx>();
  /** What they have cut with that. */
  private readonly cut = new WeakMap<Tx, CutTurn[]>();

  constructor(
    ends: ChatEnds,
    questions: RunQuestions,
    private readonly chats: ChatsQueries,
    private readonly continuing: ContinueService,
    private readonly journal: JournalRepository,
    private readonly wakes: Wakes,
  ) {
    ends.register(this);
    questions.register(this);
  }

  /** Does what ends chats that nobody waits for any more; {@link noteCut} is to follow. */
  async deaf(tx: Tx, act: () => Promise<void>): Promise<void> {
    this.deafened.add(tx);
    try {
      await act();
    } finally {
      this.deafened.delete(tx);
    }
  }

  async onChatEnded(tx: Tx, chat: { id: string }, how: ChatEnd, turnId: string | null): Promise<void> {
    const [step] = await tx.query(STEP_OF_CHAT, [chat.id]);
    if (!step) return;
    if (this.deafened.has(tx)) {
      if (turnId) this.cut.set(tx, [...(this.cut.get(tx) ?? []), { step, chatId: chat.id, turnId }]);
      return;
    }
    const scope = OrgScope.system(step.org_id, 'process');
    // The step waits on: no worker takes the next turn before the suspension has ended, and that costs the run what this one has, too.
    if (how === 'suspended') return this.continuing.goOn(tx, scope, step.agent_id, chat.id);
    const text = how === 'done' && turnId ? await this.chats.answerOf(tx, scope, turnId) : null;
    const error = how === 'done' ? null : await this.errorOf(tx, scope, chat.id, how);
    if (!(await this.wakes.resolve(tx, step.id, { kind: 'chat', text, error }))) return;
    if (turnId) await this.note(tx, step, chat.id, turnId, text, how === 'done');
  }

  /** What a transaction has cut has cost what it has, and their runs know of it. They are locked by now: chats come before that. */
  async noteCut(tx: Tx): Promise<void> {
    for (const { step, chatId, turnId } of this.cut.get(tx) ?? []) await this.note(tx, step, chatId, turnId, null, false);
    this.cut.delete(tx);
  }

  async hold(tx: Tx, chat: { id: string }): Promise<void> {
    const [step] = await tx.query(STEP_OF_CHAT, [chat.id]);
    if (step) await this.wakes.lock(tx, step.run_id);
  }

  async lock(tx: Tx, runId: string): Promise<void> {
    await this.wakes.lock(tx, runId);
  }

  onResolved(tx: Tx, { step_id, status, answer, answered_by }: HitlRequest): Promise<boolean> {
    const resolution: Resolution = status === 'answered' ? { kind: 'answer', answer: answer ?? {}, answered_by } : { kind: 'unanswered' };
    return step_id ? this.wakes.resolve(tx, step_id, resolution) : Promise.resolve(false);
  }

  /** What keeps a model from being asked is told as it is to all other steps. */
  private async errorOf(tx: Tx, scope: OrgScope, chatId: string, how: ChatEnd): Promise<StepError> {
    const { error, stop_reason } = await this.chats.whyOver(tx, scope, chatId);
    if (how === 'failed' && error?.code === 'budget_exceeded') return stepError(error.code, error.message);
    const refused = how === 'archived' && stop_reason && REFUSED[stop_reason];
    if (refused) return stepError(refused.code ?? stop_reason, refused.message);
    return stepError('agent_failed', `The chat of the agent has ended: ${how}.`);
  }

  /** The turn in the run's ledger, with all that came with it and of which nobody was told, and what they have cost with the run. */
  private async note(tx: Tx, step: { id: string; run_id: string }, chatId: string, turnId: string, text: string | null, done: boolean) {
    for (const turn of await tx.query(TURN_COSTS, [chatId, turnId])) {
      const { turn_id, chat_id, turn_no, done: wasDone, usd_cost, credits, ...tokens } = turn;
      const isLast = turn_id === turnId;
      await tx.execute(ADD_AGENT_CALL, [
        step.id,
        uuidv7(),
        'turn',
        chat_id,
        turn_id,
        turn_no,
        JSON.stringify(tokens),
        usd_cost,
        credits,
        (isLast ? done : wasDone) ? 'succeeded' : 'failed',
        // Those are its chat's.
        '[]',
        JSON.stringify(isLast ? storable(text) : null),
      ]);
      await this.journal.charge(tx, step.run_id, { credits, usd_cost });
    }
  }
}
