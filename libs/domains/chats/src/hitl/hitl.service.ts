import { Injectable } from '@nestjs/common';
import { ConnectionsQueries } from '@aps/connections';
import { DomainError, refuseValue } from '@aps/contracts';
import type { HitlRequest } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, storable, type Db, type Tx } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { RowByRow } from '@aps/platform/maintenance';
import { counter, durationHistogram } from '@aps/platform/observability';
import { ToolCatalog, type ToolContext } from '@aps/tools';
import { ChatLog } from '../state/chat-log';
import { ChatState } from '../state/chat-state.repository';
import { statusChanged, type NewEvent } from '../state/chat.types';
import { TurnEndings } from '../turns/turn-endings';
import { TurnWaits, type AbandonReason } from '../turns/turn-waits';
import { expiryOf } from './hitl.config';
import { checkAnswer, mayAnswer, requestedEvent, resolvedEvent, type AnswerInput } from './hitl.policy';
import { HitlQueries, type SeenRequest } from './hitl.queries';
import { HitlRepository, type DueRequest, type LockedChat } from './hitl.repository';
import { RunQuestions } from './run-questions';

/** What is asked, and by whom. */
export type NewRequest = Pick<HitlRequest, 'kind' | 'prompt'> & Partial<HitlRequest>;

/** An agent that asks in one of its calls. */
export const askerOf = ({ chatId, agentId, turnId, stepNo, toolCallId }: ToolContext): Partial<HitlRequest> => ({
  chat_id: chatId,
  agent_id: agentId,
  turn_id: turnId,
  step_id: String(stepNo),
  tool_call_id: toolCallId,
});

const asked = counter('hitl_requests_total', 'Questions to humans, by kind', ['kind']);
const resolved = counter('hitl_resolved_total', 'Questions to humans that are over, by how', ['status']);
/** From a minute to the 30 days after which nobody waits any more, as a rule. */
const WAITS_S = [60, 300, 900, 3_600, 4 * 3_600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400];
const waited = durationHistogram('hitl_answer_seconds', 'Time from a question to its answer', ['kind'], WAITS_S);

/** Asks humans on behalf of agents, and takes their answers. */
@Injectable()
export class HitlService {
  private readonly expiry: RowByRow;

  constructor(
    private readonly db: Database,
    private readonly queries: HitlQueries,
    private readonly requests: HitlRepository,
    private readonly runs: RunQuestions,
    private readonly idempotency: IdempotencyStore,
    private readonly chats: ChatState,
    private readonly waits: TurnWaits,
    private readonly endings: TurnEndings,
    private readonly log: ChatLog,
    private readonly audit: Audit,
    private readonly catalog: ToolCatalog,
    private readonly connections: ConnectionsQueries,
  ) {
    this.expiry = new RowByRow(db, 'hitl_expiry');
  }

  /**
   * Asks. A call that does it then waits for the request ({@link TurnWaits}), under the lock of the chat, which a running tool holds; a
   * process run does it while it is being written.
   *
   * @returns what to tell the readers of the chat or of the run
   */
  async request(tx: Tx, scope: OrgScope, ask: NewRequest): Promise<{ id: string; event: NewEvent }> {
    const at = this.db.now();
    const request = await this.requests.insert(tx, scope, { expires_at: expiryOf(at), ...storable(ask), created_at: at, updated_at: at });
    tx.afterCommit(() => asked.inc({ kind: ask.kind }));
    return { id: request.id, event: requestedEvent(request) };
  }

  /** Assignees as a request of a process run keeps them: addresses of members as users; what nobody is stays, and is nobody. */
  async assigneesOf(tx: Tx, orgId: string, assignees: string[]): Promise<string[]> {
    return Promise.all(
      assignees.map(async (who) => {
        const user = who.includes('@') ? await this.requests.memberBy(tx, orgId, who) : null;
        return user ? `user:${user}` : who;
      }),
    );
  }

  /**
   * Stores the answer and lets the chat go on when nothing else is open: one transaction.
   *
   * @param attempt knows whether the same was answered before, and nobody heard of it
   * @returns the request as it is now, and whether the chat goes on with it
   * @throws DomainError 404; 403 `insufficient_role` for another one's; 409 `already_resolved`; 422 for what does not fit the question, and for arguments of a tool that the caller may not use
   */
  async answer(scope: OrgScope, id: string, input: AnswerInput, attempt?: Attempt): Promise<{ request: HitlRequest; resumed: boolean }> {
    if (attempt?.resourceId) return this.answered(scope, id);
    const known = await this.answerable(this.db, scope, id);
    const answer = checkAnswer(known, input);
    if (known.tool_call && input.decision === 'edit') await this.requireReached(scope, known.tool_call.tool_slug);
    const at = this.db.now();
    return this.db.transaction(scope, async (tx) => {
      // A turn that is about to wait looks at the request under this lock: it either sees the answer or is seen waiting.
      const chat = known.chat_id ? await this.requests.lockChat(tx, known.chat_id) : null;
      if (known.run_id) await this.runs.lock(tx, known.run_id);
      const request = await this.answerable(tx, scope, id);
      await this.requests.answer(tx, id, { userId: scope.actor.userId, answer, at });
      const now: HitlRequest = { ...request, status: 'answered', answer, answered_by: scope.actor.userId, answered_at: at, updated_at: at };
      if (request.kind === 'approval') await this.recordApproval(tx, scope, now);
      tx.afterCommit(() => {
        resolved.inc({ status: 'answered' });
        waited.observe({ kind: request.kind }, (at.getTime() - request.created_at.getTime()) / 1000);
      });
      const resumed = request.run_id ? await this.runs.tell(tx, now) : await this.goOn(tx, chat, now, at);
      if (attempt) {
        await this.idempotency.attach(tx, attempt, id);
        await this.requests.noteResumed(tx, id, resumed);
      }
      return { request: now, resumed };
    });
  }

  /** Lets the chat that has asked go on, and tells its readers. @returns whether it does */
  private async goOn(tx: Tx, chat: LockedChat | null, answered: HitlRequest, at: Date): Promise<boolean> {
    const { turn_id: turnId } = answered;
    if (!chat || !turnId) return false;
    const woken = await this.waits.wake(tx, turnId, at);
    const open = woken ? [] : await this.requests.pendingOfTurn(tx, chat.id, turnId);
    const events = [resolvedEvent(answered), ...(woken ?? []), ...(open.length ? await this.showNext(tx, chat.id, open[0]) : [])];
    await this.log.tell(tx, chat.id, events, at);
    // A turn that has not begun to wait goes on by itself.
    return woken !== null || (chat.status === 'RUNNING' && chat.current_turn_id === turnId && open.length === 0);
  }

  /**
   * Cancels what a chat asks humans, because the chat is over. Under the chat's lock; the turn that waits is the caller's to end.
   *
   * @returns the requests that were pending, and what to tell the chat's readers
   */
  async cancelForChat(tx: Tx, chatId: string, reason: AbandonReason): Promise<{ ids: string[]; events: NewEvent[] }> {
    const ids = await this.requests.pendingOfChat(tx, chatId);
    return { ids, events: await this.close(tx, ids, 'cancelled', reason) };
  }

  /** Ends requests without an answer. Under the chat's lock. @returns what to tell the chat's readers */
  async close(tx: Tx, ids: string[], status: 'cancelled' | 'expired', reason: string): Promise<NewEvent[]> {
    const closed = await this.requests.close(tx, ids, status, this.db.now());
    tx.afterCommit(() => resolved.inc({ status }, closed.length));
    return closed.map((request) => resolvedEvent(request, reason));
  }

  /** What these runs have asked is gone with them, as what a chat has asked is with the chat. */
  hideOf(tx: Tx, runIds: string[]): Promise<void> {
    return this.requests.hide(tx, runIds);
  }

  /**
   * Gives up requests that nobody has answered in time, and the chats that wait for them.
   *
   * @param batch so many at most
   * @returns how many were given up
   * @throws what the first of those threw that could not be given up; the others are
   */
  expire(batch: number): Promise<number> {
    return this.expiry.pass(
      batch,
      (limit, but) => this.requests.due(this.db, limit, but),
      (tx, due) => this.expireOne(tx, due),
    );
  }

  private async expireOne(tx: Tx, due: DueRequest): Promise<boolean> {
    const at = this.db.now();
    const chat = due.chat_id ? await this.requests.lockChat(tx, due.chat_id) : null;
    if (due.run_id) await this.runs.lock(tx, due.run_id);
    const request = await this.requests.byId(tx, due.id);
    // Another worker, or an answer, was faster.
    if (request?.status !== 'pending') return false;
    const paused = chat?.status === 'PAUSED' && chat.current_turn_id !== null && chat.current_turn_id === request.turn_id ? chat : null;
    // The wait as a whole is over, so what was asked together is.
    const ids = paused ? await this.requests.pendingOfTurn(tx, paused.id, paused.current_turn_id as string) : [request.id];
    const events = await this.close(tx, ids, 'expired', 'expired');
    if (paused) {
      const turn = { id: paused.current_turn_id as string, chat_id: paused.id, org_id: request.org_id };
      await this.endings.end(tx, turn, paused.status, {
        turnStatus: 'stopped',
        chat: 'abandon',
        stopReason: 'hitl_expired',
        events,
      });
    } else if (chat) await this.log.tell(tx, chat.id, events, at);
    if (request.run_id) await this.runs.tell(tx, { ...request, status: 'expired' });
    return true;
  }

  private async answered(scope: OrgScope, id: string): Promise<{ request: HitlRequest; resumed: boolean }> {
    const request = await this.queries.get(scope, id);
    return { request, resumed: request.resumed === true };
  }

  /**
   * Who writes the arguments of a call has it made, and by a connection that is somebody else's alone nobody has. One that is gone is
   * refused in the same words.
   *
   * @throws DomainError 422
   */
  private async requireReached(scope: OrgScope, toolSlug: string): Promise<void> {
    if (this.catalog.own().some(({ slug }) => slug === toolSlug)) return;
    const [connection] = toolSlug.split('.');
    const mine = { userId: scope.actor.userId, slugs: [connection], tool: toolSlug.slice(connection.length + 1) };
    if ((await this.connections.withTools(this.db, scope, mine)).length === 0)
      throw refuseValue(
        ['body', 'decision'],
        'You may not use this tool, so its arguments are not yours to edit; approve or reject the call',
      );
  }

  /** What the caller may answer. */
  private async answerable(db: Db, scope: OrgScope, id: string): Promise<SeenRequest> {
    const request = await this.queries.get(scope, id, db);
    if (!mayAnswer(request, scope))
      throw new DomainError('insufficient_role', 'This request is assigned to somebody else.', {
        context: { required: ['ADMIN', 'OWNER'], assignee_user_id: request.assignee_user_id },
      });
    if (request.status !== 'pending')
      throw new DomainError('already_resolved', `This request is ${request.status}.`, { context: { status: request.status } });
    return request;
  }

  private async showNext(tx: Tx, chatId: string, requestId: string): Promise<NewEvent[]> {
    const pause = await this.chats.showQuestion(tx, chatId, requestId);
    return pause ? [statusChanged('PAUSED', 'PAUSED', { pause })] : [];
  }

  private recordApproval(tx: Tx, scope: OrgScope, { id, chat_id, run_id, tool_call, answer }: HitlRequest): Promise<void> {
    return this.audit.record(
      tx,
      scope,
      'approval.answered',
      { kind: 'hitl_request', id },
      { decision: answer?.decision, chat_id, ...(run_id && { run_id }), tool_slug: tool_call?.tool_slug ?? null },
    );
  }
}
