import { Injectable } from '@nestjs/common';
import { AgentContexts } from '@aps/agents';
import { Blockers, Entitlements, type CallBlocker } from '@aps/billing';
import { notFound } from '@aps/contracts';
import type { FileReference } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { Holds, InferenceError, ModelResolver, requireCallable, type Quote, type ResolvedModel } from '@aps/inference';
import { Database } from '@aps/platform/database';
import { transcriptRow, type TranscriptRow } from '../state/chat.types';
import { agentDeleted } from '../state/chats.errors';
import { DispatchRepository, type AskingChat } from './dispatch.repository';
import { carriedChoices, type TurnChoices } from './turn-choices';
import type { CallingTurn } from './running-turn';
import { TurnTools } from './turn-tools';
import { TurnCalls } from './turn-calls';
import { TurnBlocked } from './turn-endings';
import { TurnRepository } from './turn.repository';

/** After all turns that there are. */
const NEXT_TURN = 2_147_483_647;
/** Of documents that are read for a request. */
const READING_MS = 10_000;
const NEVER = new AbortController().signal;

/** A message that is not sent. */
export interface QuotedMessage extends TurnChoices {
  content: string;
  attachments: FileReference[];
}

/** What a turn's first call would cost at most, and what would keep it. */
export type TurnQuote = Omit<Quote, 'blocker'> & { model_key: string; blocker: CallBlocker['code'] | 'model_unpriced' | null };

/** Says of turns that nobody has dispatched what their first call would be told. Nothing is stored, and nobody is asked. */
@Injectable()
export class TurnQuotes {
  constructor(
    private readonly db: Database,
    private readonly dispatch: DispatchRepository,
    private readonly turns: TurnRepository,
    private readonly resolver: ModelResolver,
    private readonly calls: TurnCalls,
    private readonly contexts: AgentContexts,
    private readonly tools: TurnTools,
    private readonly blockers: Blockers,
    private readonly holds: Holds,
    private readonly entitlements: Entitlements,
  ) {}

  /** @throws DomainError 404; 409 `agent_deleted`; 422 `model_not_callable` */
  async ofMessage(scope: OrgScope, agentId: string, chatId: string, message: QuotedMessage): Promise<TurnQuote> {
    const chat = await this.chat(scope, agentId, chatId);
    const said = transcriptRow({ role: 'user', content: message.content, attachments: message.attachments });
    // Of a model without a price it is said what it would keep, not that it would.
    const turn = await this.turnOf(scope, chat, { ...message, unpricedAllowed: true }, [said]);
    const { model, quote } = await requireCallable(this.quote(chat, turn));
    const unpriced = await this.resolver.unpricedBecause(chat.org_id, model);
    return { ...quote, model_key: model.entry.key, blocker: unpriced ? 'model_unpriced' : (quote.blocker?.code ?? null) };
  }

  /**
   * What would keep a chat from going on: credits or a budget that are used up or, where it was they that ended it, do not reach for the
   * first call of its next turn.
   *
   * @throws DomainError 404; 409 `agent_deleted`; but for an organization that nothing is left of
   */
  async blockerOf(scope: OrgScope, agentId: string, chatId: string): Promise<CallBlocker | null> {
    return (await this.blockers.of(scope.orgId)) ?? (await this.callBlockerOf(scope, agentId, chatId));
  }

  private async callBlockerOf(scope: OrgScope, agentId: string, chatId: string): Promise<CallBlocker | null> {
    const chat = await this.chat(scope, agentId, chatId);
    if (chat.stop_reason !== 'credits_exhausted' && chat.error_code !== 'budget_exceeded') return null;
    try {
      const { direct_model_choice: direct } = await this.entitlements.of(scope.orgId);
      return (await this.quote(chat, await this.turnOf(scope, chat, { ...carriedChoices(chat, direct), unpricedAllowed: false }, []))).quote
        .blocker;
    } catch (error) {
      // That says the turn itself.
      if (error instanceof InferenceError || error instanceof TurnBlocked) return null;
      throw error;
    }
  }

  private async chat(scope: OrgScope, agentId: string, chatId: string): Promise<AskingChat> {
    const chat = await this.dispatch.asking(this.db, scope, agentId, chatId);
    if (!chat) throw notFound('Chat');
    if (chat.agent_deleted) throw agentDeleted();
    return chat;
  }

  private async turnOf(
    scope: OrgScope,
    chat: AskingChat,
    { model, model_mode_override, reasoning_effort, unpricedAllowed }: TurnChoices & { unpricedAllowed: boolean },
    said: TranscriptRow[],
  ): Promise<CallingTurn> {
    const [config, rows] = await Promise.all([
      this.contexts.of(OrgScope.system(chat.org_id, 'quote'), chat.agent_id, chat.agent_revision_id),
      this.turns.transcript(this.db, { chat_id: chat.id, seq: NEXT_TURN }),
    ]);
    const claim = {
      ...chat,
      chat_id: chat.id,
      principal_id: scope.actor.userId,
      model,
      model_mode_override,
      reasoning_effort,
      unpriced_allowed: unpricedAllowed,
    };
    const tools = await this.tools.of(claim, config);
    return { config, tools, rows: [...rows, ...said], modelSteps: 0, claim, lease: { signal: NEVER }, readingMs: READING_MS };
  }

  private async quote(chat: AskingChat, turn: CallingTurn): Promise<{ model: ResolvedModel; quote: Quote }> {
    const model = await this.calls.resolve(turn);
    const work = { orgId: chat.org_id, agentId: chat.agent_id, feature: 'turn' };
    return { model, quote: await this.holds.quote(work, model, (await this.calls.of(turn, model)).call) };
  }
}
