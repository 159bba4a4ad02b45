import { Injectable } from '@nestjs/common';
import { AgentContexts, type SealedAgentConfig } from '@aps/agents';
import { Money } from '@aps/billing';
import { CHOSEN_TOOLS, isLastStep, refuseLong, TurnBlocked, TurnCalls, TurnTools, type CallingTurn, type TranscriptRow } from '@aps/chats';
import type { Replay, ReplayItem } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import {
  dollarPriced,
  Holds,
  InferenceError,
  isPriced,
  isRouteError,
  ModelResolver,
  type ChatResult,
  type ModelCall,
  type ResolvedModel,
} from '@aps/inference';
import { Database } from '@aps/platform/database';
import type { Lease, OwnedRun } from '@aps/platform/runs';
import type { ToolSet } from '@aps/tools';
import { judgeCall, judged } from './judge.policy';
import {
  advance,
  answerOf,
  begin,
  decidedBefore,
  differencesOf,
  doingsOf,
  journalOf,
  toldOf,
  untoldOf,
  verdictByKind,
  type Answer,
  type CheckedDecision,
  type Progress,
  type Said,
  type SlugOf,
  type Verdict,
} from './replay.policy';
import { ReplaysRepository, type ClaimedReplay, type Outcome } from './replays.repository';
import { CHAT, ROWS, TOOK, type ReplayedChat, type ReplayedRow } from './replays.sql';

const SPENT_UP = new Set<string>(['credits_exhausted', 'budget_exceeded']);

/** What fails an item, and not its replay. */
class ItemFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** What fails an item that it came from; null for what ends the replay. @param chosen the model was no choice of the agent's */
function failureOf(error: unknown, chosen = false): ItemFailed | null {
  if (error instanceof ItemFailed) return error;
  if (error instanceof TurnBlocked && chosen) return new ItemFailed(error.stopReason, error.message);
  if (!(error instanceof InferenceError) || SPENT_UP.has(error.code) || (isRouteError(error.code) && !chosen)) return null;
  return new ItemFailed(error.code, error.message);
}

type Owned = OwnedRun<ClaimedReplay>;

/** What is played again of a chat. */
interface Case {
  chat: ReplayedChat;
  /** Stands as it was. */
  before: TranscriptRow[];
  said: Said[];
  /** Which turns answered then, and how each chose its model. */
  choices: Pick<ReplayedRow, 'of_turn' | 'model' | 'model_mode_override' | 'reasoning_effort'>[];
  /** What calls are answered from. */
  journal: TranscriptRow[];
  /** It is over with the decision that is in the place of this call's in these rows; null where it is played to its end. */
  upTo: { rows: TranscriptRow[]; callId: string } | null;
}

/** An answer as a turn would be asked for it. */
type ReplayedTurn = Omit<CallingTurn, 'modelSteps'> & { no: number; modelSteps: number };

/** A replay under way, in this process. */
interface Replaying {
  run: Owned;
  replay: Replay;
  lease: Lease;
}

/**
 * Plays chats again: users say what they said, the agent answers as the configuration at hand has it, and its calls get what they got then.
 * Nothing is executed, stored in the chat, remembered, asked or told to anybody.
 */
@Injectable()
export class Replays {
  constructor(
    private readonly db: Database,
    private readonly replays: ReplaysRepository,
    private readonly contexts: AgentContexts,
    private readonly calls: TurnCalls,
    private readonly tools: TurnTools,
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
  ) {}

  /** Plays one item again, from where it has come to, and notes what came of it. @throws LeaseEnded, or what ends the replay */
  async play(replaying: Replaying, item: ReplayItem): Promise<void> {
    const checked = item.decision as CheckedDecision | null;
    let outcome: Outcome;
    try {
      outcome = await (checked ? this.check(replaying, item, checked) : this.simulate(replaying, item));
    } catch (error) {
      const failure = failureOf(error);
      if (!failure) throw error;
      outcome = failed(checked, { code: failure.code, message: failure.message });
    }
    await this.replays.finishItem(replaying.run, item, outcome);
  }

  private async check(replaying: Replaying, item: ReplayItem, checked: CheckedDecision): Promise<Outcome> {
    const { chat, rows } = await this.find(replaying, item, checked.turn_id);
    const turnNo = rows.find(({ turn_id }) => turn_id === checked.turn_id)?.turn_no;
    if (turnNo === undefined) throw gone();
    // What was said before stands as it was, so that the case is the one that was judged.
    const own = rows.filter((row) => row.turn_no === turnNo);
    const before = rows.filter((row) => row.turn_no < turnNo);
    const said = own.filter(({ role }) => role === 'user' || role === 'system');
    const replayed = {
      chat,
      before,
      said: [said],
      choices: [own[0]],
      journal: [...before, ...own],
      upTo: { rows: own, callId: checked.tool_call_id },
    };
    const { progress, slugOf, until, noted } = await this.run(replaying, item, replayed);
    const now = doingsOf(progress.rows, slugOf).decisions[until];
    const verdict = verdictByKind(checked, now);
    if (verdict) return { result: { now: now ?? null, judged_by: now ? 'kind' : null, error: null }, verdict };
    return {
      result: { now, judged_by: 'model', error: null },
      verdict: noted ? judged(noted.content) : await this.judge(replaying, item, judgeCall(checked, now)),
    };
  }

  private async simulate(replaying: Replaying, item: ReplayItem): Promise<Outcome> {
    const { chat, rows } = await this.find(replaying, item);
    const words = rows.filter(({ role }) => role === 'user');
    if (!words.length) throw gone();
    const turns = new Set(words.map(({ turn_no }) => turn_no));
    const said = [...turns].map((no) => words.filter(({ turn_no }) => turn_no === no));
    const choices = said.map(([row]) => row);
    const untold = rows.filter(({ role }) => role === 'summary');
    const { progress, slugOf } = await this.run(replaying, item, { chat, before: untold, said, choices, journal: rows, upTo: null });
    // Compared with the same answers, which are none to notes of the system.
    const [took] = await this.db.query(TOOK, [item.org_id, [item.chat_id], choices.map(({ of_turn }) => of_turn)]);
    const tokens = took.input + took.cached_input + took.cache_write + took.output + took.reasoning;
    const before = doingsOf(
      rows.filter(({ turn_no }) => turns.has(turn_no)),
      slugOf,
    );
    const after = doingsOf(progress.rows, slugOf);
    return {
      result: { before, after, error: null },
      differences: differencesOf(before, after),
      misses: progress.misses,
      cost_before: took[replaying.replay.billing_unit],
      tokens_before: String(tokens),
    };
  }

  /** @returns with `until`, the number of the decision that it was over with, and with `noted`, what was said after that already: by a judge */
  private async run(
    replaying: Replaying,
    item: ReplayItem,
    { chat, before, said, choices, journal: recorded, upTo }: Case,
  ): Promise<{ progress: Progress; slugOf: SlugOf; until: number; noted: Answer | undefined }> {
    const { run, replay, lease } = replaying;
    const scope = OrgScope.system(run.org_id, 'replay');
    // What is offered is what whoever replays may use: connections of theirs, and of no other member.
    const asking = { ...chat, principal_id: replay.created_by, unpriced_allowed: false };
    const config = await this.contexts.ofConfig(scope, replay.config as unknown as SealedAgentConfig);
    const [tools, told] = await Promise.all([this.tools.of(asking, config), this.contexts.told(scope, config)]);
    const slugOf: SlugOf = (name) => tools.named(name)?.slug ?? name;
    const journal = journalOf(recorded, slugOf);
    const until = upTo ? decidedBefore(upTo.rows, upTo.callId, slugOf) : Infinity;
    if (until === null) throw gone();
    const noted = [...((item.progress as Answer[] | null) ?? [])];
    let progress = begin(said);
    let untold = 0;
    const turnAt = ({ turn, steps, rows }: Progress): ReplayedTurn => {
      const claim = { ...asking, ...choices[turn] };
      return { no: turn, claim, config, told, tools, rows: [...before, ...rows], modelSteps: steps, lease };
    };
    let turn = turnAt(progress);
    const askFor = async (at: Progress): Promise<Answer> => {
      lease.requireNext();
      const { model: ofMessage, model_mode_override: ofTurn, chat_mode: ofChat } = turn.claim;
      try {
        const model = await this.calls.resolve(turn);
        const rows = [...before, ...at.rows];
        untold = untoldOf(rows, untold, model.context_window);
        turn.rows.splice(0, Infinity, ...toldOf(rows, untold, said[at.turn]));
        turn.chosenTools ??= await this.chosenTools(choices[at.turn].of_turn, tools);
        const { call } = await this.calls.of(turn, model);
        return await this.ask(replaying, item, model, call, (result) => answerOf(result, at, before));
      } catch (error) {
        throw failureOf(error, (ofMessage ?? ofTurn ?? ofChat) !== null) ?? error;
      }
    };
    while (!progress.isOver && doingsOf(progress.rows, slugOf).decisions.length <= until) {
      const answer = noted.shift() ?? (await askFor(progress));
      progress = advance(progress, answer, { said, journal, slugOf, isLast: isLastStep(turn) });
      // The files of an answer's messages are read once.
      if (progress.turn !== turn.no) turn = turnAt(progress);
      turn.modelSteps = progress.steps;
    }
    return { progress, slugOf, until, noted: noted[0] };
  }

  /** A judge that cannot be asked, or gives no clear answer, judges nothing. */
  private async judge(replaying: Replaying, item: ReplayItem, call: ModelCall): Promise<Verdict> {
    const { judge_model, org_id: orgId } = replaying.replay;
    replaying.lease.requireNext();
    try {
      const who = judge_model ? { requested: { messageModel: judge_model } } : { feature: 'judge' as const };
      const model = await this.resolver.resolve({ orgId, scope: 'chat', ...who });
      const { content } = await this.ask(replaying, item, model, call, (result) => answerOf(result, NO_PROGRESS, []));
      return judged(content);
    } catch (error) {
      if (error instanceof InferenceError && !SPENT_UP.has(error.code)) return 'unjudged';
      throw error;
    }
  }

  /** One call of a model: while whoever replays may open the chat, within what the replay may spend, and charged with what it has brought. */
  private async ask(
    replaying: Replaying,
    item: ReplayItem,
    model: ResolvedModel,
    call: ModelCall,
    storedAs: (result: ChatResult) => Answer,
  ): Promise<Answer> {
    const { run, replay, lease } = replaying;
    await this.chatOf(replaying, item);
    const budget = replay.budget === null ? undefined : () => this.requireBudget(run.id);
    const work = { orgId: run.org_id, chatId: null, agentId: run.agent_id, name: `replay:${run.id}`, feature: run.kind, budget };
    // Nothing of it would be counted.
    if (budget && !(replay.billing_unit === 'usd' ? dollarPriced : isPriced)(model.entry))
      throw new ItemFailed('model_not_priced', `The model "${model.requested_model}" has no price that the budget could be held to by.`);
    return this.holds.holding(work, async (hold) => {
      let size = 0;
      const result = await hold.ask(model, call, {
        signal: lease.signal,
        // Calls come when the answer is whole, and known with its receipt.
        onEvent: (event) => event.type !== 'tool_call' && refuseLong(model, (size += event.text.length)),
        onRestart: () => void (size = 0),
      });
      const charged = { receipts: hold.receipts, unit: replay.billing_unit };
      try {
        refuseLong(model, size, result);
      } catch (error) {
        await this.replays.note(run, item, null, charged);
        throw error;
      }
      const answer = storedAs(result);
      await this.replays.note(run, item, answer, charged);
      return answer;
    });
  }

  private async requireBudget(id: string): Promise<void> {
    const { spent, budget } = await this.replays.maySpend(id);
    if (budget !== null && new Money(spent).greaterThanOrEqualTo(budget))
      throw new InferenceError('budget_exceeded', 'The budget of this replay is used up.');
  }

  /** What was chosen then comes first, so that what this configuration has besides is offered where there is room. */
  private async chosenTools(turnId: string | null, tools: ToolSet): Promise<string[] | undefined> {
    const [found] = await this.db.query(CHOSEN_TOOLS, [turnId]);
    return found && [...found.chosen, ...tools.offered().map(({ name }) => name)];
  }

  private async find(
    replaying: Replaying,
    item: ReplayItem,
    turnId: string | null = null,
  ): Promise<{ chat: ReplayedChat; rows: ReplayedRow[] }> {
    const chat = await this.chatOf(replaying, item);
    return { chat, rows: await this.db.query(ROWS, [item.chat_id, turnId]) };
  }

  /** @throws ItemFailed once whoever replays may not open it any more, or its agent is gone */
  private async chatOf({ replay }: Replaying, { org_id, chat_id }: ReplayItem): Promise<ReplayedChat> {
    const [chat] = await this.db.query(CHAT, [org_id, chat_id, replay.created_by]);
    if (!chat) throw gone();
    return chat;
  }
}

/** Of a judge's answer. */
const NO_PROGRESS = { turn: 0, steps: 0, rows: [] };
const gone = () => new ItemFailed('not_found', 'The chat is not there any more.');

const failed = (checked: CheckedDecision | null, error: { code: string; message: string }): Outcome =>
  checked ? { result: { now: null, judged_by: null, error }, verdict: 'error' } : { result: { before: null, after: null, error } };
