import { BooleanField, DateTimeField, DecimalString, EnumField, IntField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { BILLING_UNITS } from '../agents/rollout.dto';
import { DECISION_KIND_VALUES, type DecisionKindValue } from '../decisions';

export const REPLAY_STATUS_VALUES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type ReplayStatusValue = (typeof REPLAY_STATUS_VALUES)[number];
/** How a replay stands, in every class that says so. */
export const REPLAY_STATUS = { name: 'ReplayStatus', description: 'How far it has come.', example: 'completed' };

/** Said in a request that may ask for a quote alone. */
export class QuotedRequest {
  @BooleanField({ optional: true, default: false, description: 'Only say what it would take: nothing is stored or run.' })
  quote?: boolean;
}

export class ReplayEstimate {
  @IntField({ description: 'Calls of models.', example: 40 }) model_calls: number;
  @DecimalString({ nullable: true, description: 'In credits; null where none are paid.', example: '12.5' }) credits: string | null;
  @DecimalString({ nullable: true, description: 'In US dollars; null where credits are paid, or without a price.', example: '0.41' })
  usd: string | null;
}

/** What a replay would take, judged by what it took when it happened. */
export class ReplayQuoteResponse {
  @NestedField(() => ReplayEstimate, { description: 'What it would take.' }) estimate: ReplayEstimate;
}

export class ReplayFailure {
  @StringField({ description: 'Why, for programs.', example: 'budget_exceeded' }) code: string;
  @StringField({ description: 'The same for people.', example: 'The budget of this replay is used up.' }) message: string;
}

/** What every replay says of itself. */
export class ReplayFields {
  @UuidField({ description: 'Its id.' }) id: string;
  @EnumField(REPLAY_STATUS_VALUES, REPLAY_STATUS) status: ReplayStatusValue;
  @EnumField(BILLING_UNITS, { name: 'BillingUnit', description: 'What its costs are counted in.' })
  billing_unit: (typeof BILLING_UNITS)[number];
  @NestedField(() => ReplayEstimate, { description: 'What it was expected to take.' }) estimate: ReplayEstimate;
  @NestedField(() => ReplayFailure, { nullable: true, description: 'Why it failed.' }) error: ReplayFailure | null;
  @UuidField({ description: 'Who began it, and whose rights it has.' }) created_by: string;
  @DateTimeField({ description: 'When it was begun; it is kept for 30 days.' }) created_at: string;
  @DateTimeField({ nullable: true, description: 'When it was over.' }) finished_at: string | null;
}

/** What has become of a replay that is to be cancelled. */
export class ReplayCancelled {
  @BooleanField({ description: 'False where it was over already.', example: true }) cancelled: boolean;
  @EnumField(REPLAY_STATUS_VALUES, REPLAY_STATUS) status: ReplayStatusValue;
}

/** A decision as an agent records it when it is played again. Nothing is recorded then. */
export class ReplayedDecision {
  @EnumField(DECISION_KIND_VALUES, { name: 'DecisionKind', description: 'What it decided.' }) kind: DecisionKindValue;
  @StringField({ description: 'The rule that it cited.', example: 'Refunds above 50 EUR need a human.' }) basis: string;
  @StringField({ description: 'What it decided, in a sentence.', example: 'Ask before refunding.' }) summary: string;
  @StringField({ nullable: true, description: 'The tool that it was about.', example: 'con_shop.refund' }) tool_slug: string | null;
}
