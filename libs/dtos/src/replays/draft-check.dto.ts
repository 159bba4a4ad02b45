import { DecimalString, EnumField, IntField, ListField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { OmitType } from '@nestjs/swagger';
import { DECISION_KIND_VALUES, type DecisionKindValue } from '../decisions';
import { QuotedRequest, ReplayCancelled, ReplayedDecision, ReplayFailure, ReplayFields } from './replay.dto';

export const CHECK_VERDICTS = ['agrees', 'differs', 'no_decision', 'unjudged', 'error'] as const;

export class CheckInstructionDraftRequest extends QuotedRequest {
  @ListField('uuid', {
    optional: true,
    min: 1,
    max: 200,
    description: 'Of the disputed decisions these. Default: the newest 200 that say what should have been.',
  })
  decision_ids?: string[];

  @IntField({
    optional: true,
    min: 0,
    max: 200,
    default: 20,
    description: 'So many decisions that were agreed to, the newest, should come out as they were.',
    example: 20,
  })
  guard_sample?: number;

  @StringField({
    optional: true,
    min: 1,
    max: 200,
    description: 'Key of the model that compares words. Default: the platform’s choice.',
    example: 'gpt-5-mini',
  })
  judge_model?: string;
}

export class DraftCheckStartedResponse {
  @UuidField({ description: 'The check.' }) check_id: string;
}

export class CheckedBefore {
  @EnumField(DECISION_KIND_VALUES, { name: 'DecisionKind', description: 'What was decided.' }) kind: DecisionKindValue;
  @StringField({ description: 'The rule that was cited.', example: 'Refunds above 50 EUR need a human.' }) basis: string;
}

export class DraftCheckItem {
  @UuidField({ description: 'The decision.' }) decision_id: string;
  @UuidField({ description: 'The chat that it was made in.' }) chat_id: string;
  @EnumField(['regression', 'guard'], { description: 'Whether it was disputed, or agreed to.', example: 'regression' })
  set: 'regression' | 'guard';
  @NestedField(() => CheckedBefore, { description: 'What it was.' }) was: CheckedBefore;
  @StringField({ nullable: true, description: 'What it should have been, as the dispute says.', example: 'Ask first.' }) should_have:
    string | null;
  @EnumField(DECISION_KIND_VALUES, { name: 'DecisionKind', nullable: true, description: 'What kind it should have been.' })
  should_have_kind: DecisionKindValue | null;
  @NestedField(() => ReplayedDecision, { nullable: true, description: 'What the draft makes of it.' }) now: ReplayedDecision | null;
  @EnumField(CHECK_VERDICTS, {
    nullable: true,
    description: 'Whether that is what it should be; null while it is not known.',
    example: 'agrees',
  })
  verdict: (typeof CHECK_VERDICTS)[number] | null;
  @EnumField(['kind', 'model'], { nullable: true, description: 'By what that was told.', example: 'kind' }) judged_by:
    'kind' | 'model' | null;
  @NestedField(() => ReplayFailure, { nullable: true, description: 'Why it could not be played again.' }) error: ReplayFailure | null;
}

export class DraftCheckTotals {
  @IntField({ description: 'Decisions, of chats that the caller may open.', example: 24 }) cases: number;
  @IntField({ description: 'Disputed ones that are now as they should be.', example: 3 }) fixed: number;
  @IntField({ description: 'Disputed ones that are not.', example: 1 }) still_wrong: number;
  @IntField({ description: 'Agreed ones that are not as they were.', example: 0 }) guard_broken: number;
  @IntField({ description: 'Those of which nobody could tell.', example: 0 }) unjudged: number;
  @DecimalString({ nullable: true, description: 'What that took, in credits; null where none are paid.', example: '4.2' }) cost_credits:
    string | null;
  @DecimalString({
    nullable: true,
    description: 'The same in US dollars; null where credits are paid, or without a price.',
    example: '0.02',
  })
  cost_usd: string | null;
}

/** A check without its decisions. */
export class DraftCheckSummary extends OmitType(ReplayFields, ['billing_unit']) {
  @StringField({
    description: 'SHA-256 of the draft that is checked, hex.',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  draft_sha256: string;
  @NestedField(() => DraftCheckTotals, { description: 'What has come of it so far.' }) totals: DraftCheckTotals;
}

export class DraftCheckResponse extends DraftCheckSummary {
  @ListField(() => DraftCheckItem, { description: 'Disputed ones first, each set newest first. Of chats that the caller may open.' })
  items: DraftCheckItem[];
}

export class CancelDraftCheckResponse extends ReplayCancelled {
  @UuidField({ description: 'The check.' }) check_id: string;
}
