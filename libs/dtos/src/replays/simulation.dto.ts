import { BooleanField, DecimalField, DecimalString, IntField, ListField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { QuotedRequest, ReplayCancelled, ReplayedDecision, ReplayFailure, ReplayFields } from './replay.dto';

export const SIMULATION_DIFFERENCES = ['tools', 'decisions', 'final_text'] as const;

/** Exactly one of `version`, `revision_id` and `use_draft` says what is simulated. */
export class SimulateAgentRequest extends QuotedRequest {
  @IntField({ optional: true, nullable: true, min: 1, description: 'Number of a revision.', example: 3 }) version?: number | null;
  @UuidField({ optional: true, nullable: true, description: 'A revision.' }) revision_id?: string | null;
  @BooleanField({
    optional: true,
    description: 'The draft as it stands, with the instruction that is being written, where there is one.',
    example: true,
  })
  use_draft?: boolean;

  @ListField('uuid', { optional: true, min: 1, max: 200, description: 'These chats of the agent.' }) chat_ids?: string[];
  @IntField({
    optional: true,
    min: 1,
    max: 200,
    description: 'So many by chance, of the newest 5,000 that the caller may open. Default: 20, unless chats are named.',
    example: 20,
  })
  sample?: number;
  @IntField({ optional: true, min: 1, max: 8_760, description: 'Those with a message of the last so many hours.', example: 168 })
  within_hours?: number;
  @DecimalField({
    optional: true,
    nullable: true,
    positive: true,
    max: 1_000_000_000,
    description: 'It asks no model any more once it has spent so much: in credits where these are paid, else in US dollars.',
    example: '5',
  })
  budget?: string | null;
}

export class SimulationStartedResponse {
  @UuidField({ description: 'The simulation.' }) simulation_id: string;
}

export class SimulatedDoings {
  @ListField('string', { description: 'The tools that it called, by slug, in their order.', example: ['knowledge_search'] })
  tools: string[];
  @ListField(() => ReplayedDecision, { description: 'What it decided, in its order.' }) decisions: ReplayedDecision[];
  @StringField({ description: 'Its last words; the first 50,000 characters.', example: 'It is on its way.' }) final_text: string;
  @DecimalString({ nullable: true, description: 'What its answers cost; null without a price.', example: '0.25' }) cost: string | null;
  @IntField({ description: 'Tokens of its answers, of all kinds.', example: 1_200 }) tokens: number;
}

export class SimulatedChat {
  @UuidField({ description: 'The chat.' }) chat_id: string;
  @NestedField(() => SimulatedDoings, { nullable: true, description: 'What the agent did. Null until it has been played again.' })
  before: SimulatedDoings | null;
  @NestedField(() => SimulatedDoings, {
    nullable: true,
    description: 'What it would do. Null until then, and where it could not be played.',
  })
  after: SimulatedDoings | null;
  @ListField(SIMULATION_DIFFERENCES, {
    description: 'What is not as it was. Decisions differ by their kind, or the tool that they are about.',
  })
  differences: (typeof SIMULATION_DIFFERENCES)[number][];
  @IntField({ description: 'Calls that were not made then, and so were answered `{"status":"simulated"}`.', example: 1 })
  tool_call_misses: number;
  @NestedField(() => ReplayFailure, { nullable: true, description: 'Why it could not be played again.' }) error: ReplayFailure | null;
}

export class SimulationTotals {
  @IntField({ description: 'Chats that the caller may open.', example: 20 }) chats: number;
  @IntField({ description: 'Those in which the same tools were called.', example: 18 }) same_tools: number;
  @IntField({ description: 'Those in which the same was decided.', example: 19 }) same_decisions: number;
  @DecimalString({
    nullable: true,
    description: 'What the answers to users cost then, in chats that could be played to their end; null without a price.',
    example: '4.2',
  })
  cost_before: string | null;
  @DecimalString({ nullable: true, description: 'What they cost now.', example: '3.1' }) cost_after: string | null;
  @IntField({ description: 'Their tokens, of all kinds.', example: 30_000 }) tokens_before: number;
  @IntField({ description: 'The same now.', example: 22_000 }) tokens_after: number;
  @IntField({ description: 'Calls that were not made then.', example: 3 }) tool_call_misses: number;
}

/** A simulation without its chats. */
export class SimulationResponse extends ReplayFields {
  @UuidField({ nullable: true, description: 'The revision; null for a draft.' }) revision_id: string | null;
  @DecimalString({ nullable: true, description: 'What it may spend.', example: '5' }) budget: string | null;
  @DecimalString({
    nullable: true,
    description: 'What it has spent, also on chats that could not be played to their end. What has no price is not in it.',
    example: '3.4',
  })
  spent: string | null;
  @NestedField(() => SimulationTotals, { description: 'What has come of it so far.' }) totals: SimulationTotals;
}

export class SimulationDetailResponse extends SimulationResponse {
  @ListField(() => SimulatedChat, { description: 'Of chats that the caller may open.' }) items: SimulatedChat[];
}

export class CancelSimulationResponse extends ReplayCancelled {
  @UuidField({ description: 'The simulation.' }) simulation_id: string;
}
