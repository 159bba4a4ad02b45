import { Injectable } from '@nestjs/common';
import { AgentContexts, contextHash, instructionsOf } from '@aps/agents';
import { OrgScope } from '@aps/guards';
import { ModelResolver, type ModelCall, type ModelWish, type ResolvedModel } from '@aps/inference';
import { TurnAttachments } from './attachments';
import { systemPrompt } from './system-prompt';
import { toModelMessages } from './transcript';
import { offerOf } from './tool-router';
import { TurnBlocked } from './turn-endings';
import type { CallingTurn } from './running-turn';

/** Whether the step that comes now is the last one that agent and chat allow in a turn. */
export const isLastStep = ({ modelSteps, config, claim }: Pick<CallingTurn, 'modelSteps' | 'config' | 'claim'>): boolean =>
  modelSteps + 1 >= Math.min(config.max_steps, claim.max_steps ?? Infinity);

/** Whose model a turn takes, and so does what is done beside it for its chat. */
export const wishOf = (
  { model, model_mode_override, chat_mode }: Pick<CallingTurn['claim'], 'model' | 'model_mode_override' | 'chat_mode'>,
  agent: Pick<CallingTurn['config'], 'model' | 'model_mode'>,
): ModelWish => ({
  messageModel: model,
  chatMode: model_mode_override ?? chat_mode,
  agentModel: agent.model,
  agentMode: agent.model_mode,
});

const someOf = (count: number): string =>
  `## Tools\nOf your ${count} tools some are offered now. Where another one is needed, say which, and go on when it is asked for.`;

/** Chooses the model of a turn, and says what it is asked. */
@Injectable()
export class TurnCalls {
  constructor(
    private readonly resolver: ModelResolver,
    private readonly contexts: AgentContexts,
    private readonly attachments: TurnAttachments,
  ) {}

  /** @throws TurnBlocked for a model without a price where credits are counted, unless somebody has let it through; InferenceError */
  async resolve({ claim, config }: CallingTurn): Promise<ResolvedModel> {
    const model = await this.resolver.resolve({
      orgId: claim.org_id,
      scope: 'chat',
      requested: {
        ...wishOf(claim, config),
        reasoningEffort: claim.reasoning_effort,
        agentReasoningEffort: config.reasoning_effort,
      },
    });
    const unpriced = claim.unpriced_allowed ? null : await this.resolver.unpricedBecause(claim.org_id, model);
    if (unpriced) throw new TurnBlocked('model_unpriced', unpriced);
    return model;
  }

  /** What the model is asked, and the hash of what it is told beside the chat. */
  async of(turn: CallingTurn, model: ResolvedModel): Promise<{ call: ModelCall; contextHash: string }> {
    const { system, contextHash } = await this.told(turn);
    const all = turn.tools.offered();
    const tools = (turn.offered ??= offerOf(turn.tools, turn.rows, model, turn.chosenTools));
    const call: ModelCall = {
      system: tools.length < all.length ? [system, someOf(all.length)].filter(Boolean).join('\n\n') : system,
      messages: toModelMessages(turn.rows, await this.attachments.of(turn, model)),
      tools,
      ...(isLastStep(turn) && { toolUse: 'forbidden' as const }),
      feature: 'turn',
    };
    return { call, contextHash };
  }

  /** After a refusal of so many bytes. @returns whether the next request has fewer */
  showLess(turn: CallingTurn): boolean {
    return this.attachments.hideEarlier(turn);
  }

  /** Read once for a turn: what is shared holds from the next one on, and what a model was told stays the beginning of what it is told. */
  private async told(turn: CallingTurn): Promise<{ system: string | undefined; contextHash: string }> {
    const { claim, config } = turn;
    const told = (turn.told ??= await this.contexts.told(OrgScope.system(claim.org_id, 'turn'), config));
    return { system: systemPrompt({ instructions: instructionsOf(config), ...told }), contextHash: contextHash(config, told) };
  }
}
