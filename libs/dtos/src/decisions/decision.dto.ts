import { OmitType, PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  nullableFields,
  PageQuery,
  StringField,
  UuidField,
  type FieldOptions,
} from '@aps/platform/http';

export const DECISION_KIND_VALUES = ['act', 'no_act', 'escalate'] as const;
export type DecisionKindValue = (typeof DECISION_KIND_VALUES)[number];
export const DECISION_REVIEW_STATUS_VALUES = ['unreviewed', 'agreed', 'disputed', 'reverted'] as const;
export type DecisionReviewStatusValue = (typeof DECISION_REVIEW_STATUS_VALUES)[number];

const KindField = (o: FieldOptions): PropertyDecorator => EnumField(DECISION_KIND_VALUES, { name: 'DecisionKind', ...o });
const StatusField = (o: FieldOptions): PropertyDecorator =>
  EnumField(DECISION_REVIEW_STATUS_VALUES, { name: 'DecisionReviewStatus', ...o });

/** Most decisions that one call names. */
export const MAX_BULK_DECISION_IDS = 500;
const MAX_REVIEW_TEXT = 4_000;

export class DecisionListQuery extends PageQuery {
  @StringField({ optional: true, description: 'Id or slug of the agent, once more. Refused when it means another one than the path.' })
  agent_id?: string;

  @KindField({ optional: true, description: 'Only decisions of this kind.' }) kind?: DecisionKindValue;
  @StatusField({ optional: true, description: 'Only decisions that stand so.' }) review_status?: DecisionReviewStatusValue;
  @BooleanField({ optional: true, description: 'Only those that depart from their rule, or only those that do not.' }) deviation?: boolean;

  @BooleanField({ optional: true, default: false, description: 'Only those that the agent had to determine itself. `false` is no filter.' })
  determination?: boolean;

  @BooleanField({ optional: true, default: false, description: 'The archive, or the live queue; never both.' }) archived?: boolean;
}

/** Which decisions of an agent. What is left out, or null, means what the action changes: live ones for `archive`, archived ones for `unarchive`, live and unreviewed ones for `review`. */
@nullableFields()
export class DecisionBulkFilter extends PartialType(OmitType(DecisionListQuery, ['agent_id', 'limit', 'offset']), {
  skipNullProperties: true,
}) {}

/** As for archiving; a status other than `unreviewed` is refused. */
export class DecisionReviewFilter extends OmitType(DecisionBulkFilter, ['review_status', 'archived']) {
  @EnumField(['unreviewed'], { optional: true, nullable: true, description: 'Others are not touched.' })
  review_status?: 'unreviewed' | null;

  @BooleanField({ optional: true, nullable: true, description: 'Archived ones are found, and not touched.' }) archived?: boolean | null;
}

const IDS = {
  optional: true,
  nullable: true,
  max: MAX_BULK_DECISION_IDS,
  description: 'These. Those that the caller may not see, and those of other agents, are not there: they are not counted.',
};
const FILTER = { optional: true, nullable: true, description: 'All that it finds. Exactly one of `decision_ids` and `filter`.' };

export class ArchiveDecisionsRequest {
  @ListField('uuid', IDS) decision_ids?: string[] | null;
  @NestedField(() => DecisionBulkFilter, FILTER) filter?: DecisionBulkFilter | null;
}

export class AgreeDecisionsRequest {
  @ListField('uuid', IDS) decision_ids?: string[] | null;
  @NestedField(() => DecisionReviewFilter, FILTER) filter?: DecisionReviewFilter | null;
  @EnumField(['agreed'], { description: 'Many at once can only be agreed to.' }) review_status: 'agreed';
}

export class DecisionBulkUpdateResponse {
  @IntField({ description: 'Decisions that this call has changed.', example: 12 }) updated: number;
  @IntField({ description: 'Decisions that were selected and that the caller may see.', example: 14 }) matched: number;
  @IntField({ description: 'Of those, the ones that were already so, or that this action does not touch.', example: 2 }) unchanged: number;
}

export class ReviewDecisionRequest {
  @EnumField(['agreed', 'disputed', 'reverted'], {
    description:
      '`agreed` marks it; `disputed` can say what it should have been; `reverted` says that its effect was undone outside, and needs a note. Each follows any status.',
  })
  review_status: 'agreed' | 'disputed' | 'reverted';

  @StringField({
    optional: true,
    nullable: true,
    max: MAX_REVIEW_TEXT,
    description: 'For other reviewers. Required with `reverted`.',
    example: 'The refund was cancelled at the bank.',
  })
  review_note?: string | null;

  @StringField({
    optional: true,
    nullable: true,
    max: MAX_REVIEW_TEXT,
    description: 'What it should have been, as an instruction to the agent. Stored with `disputed` alone; left out, it stays what it was.',
    example: 'Refunds above 100 USD go to a human first.',
  })
  should_have?: string | null;

  @KindField({
    optional: true,
    nullable: true,
    description: 'What kind it should have been. Stored with `disputed` alone; left out, it stays what it was.',
  })
  should_have_kind?: DecisionKindValue | null;
}

export class DecisionResponse {
  @UuidField({ description: 'The decision.' }) id: string;
  @UuidField({ description: 'The chat that it was made in.' }) chat_id: string;
  @UuidField({ description: 'The agent that made it.' }) agent_id: string;
  @UuidField({ description: 'The agent revision that the chat runs on.' }) agent_revision_id: string;
  @UuidField({ description: 'The turn that it was made in.' }) turn_id: string;
  @StringField({ description: 'The call that recorded it.' }) tool_call_id: string;
  @StringField({ nullable: true, description: 'The tool that it is about.', example: 'con_shop.refund' }) tool_slug: string | null;
  @StringField({ nullable: true, description: 'The connection of that tool.' }) connection_id: string | null;

  @StringField({ nullable: true, description: 'SHA-256 over the canonical JSON (RFC 8785) of the arguments that it is about, hex.' })
  arguments_digest: string | null;

  @KindField({ description: '`act`: it was done. `no_act`: it was left. `escalate`: a human has to decide.' }) kind: DecisionKindValue;
  @StringField({ description: 'What was decided, in the agent’s words.', example: 'Refund 20 USD.' }) summary: string;
  @StringField({ description: 'The rule that it cites.', example: 'Refunds up to 100 USD need no approval.' }) basis: string;
  @StringField({ nullable: true, description: 'Why the rule leads there.' }) rationale: string | null;
  @BooleanField({ description: 'It departs from what the rule says.' }) deviation: boolean;
  @BooleanField({ description: 'No rule says it; the agent had to determine it itself.' }) determination: boolean;
  @DecimalString({ nullable: true, description: 'How sure the agent was, from 0 to 1.', example: '0.9' }) confidence: string | null;
  @StatusField({ description: 'What a human thought of it.' }) review_status: DecisionReviewStatusValue;
  @StringField({ nullable: true, description: 'What the reviewer noted.' }) review_note: string | null;
  @StringField({ nullable: true, description: 'What it should have been, as a dispute said.' }) should_have: string | null;
  @KindField({ nullable: true, description: 'What kind it should have been, as a dispute said.' })
  should_have_kind: DecisionKindValue | null;
  @UuidField({ nullable: true, description: 'Who reviewed it last.' }) reviewed_by: string | null;
  @DateTimeField({ nullable: true, description: 'When it was reviewed last.' }) reviewed_at: string | null;
  @BooleanField({ description: 'Whether it was put away.' }) archived: boolean;
  @DateTimeField({ nullable: true, description: 'When it was put away.' }) archived_at: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
}

/** Decisions that cite the same basis, word for word. */
export class DecisionGroupItem {
  @StringField({ description: 'The rule that they cite.', example: 'Refunds up to 100 USD need no approval.' }) basis: string;
  @IntField({ description: 'How many there are.', example: 12 }) count: number;
  @IntField({ description: 'Of those, how many nobody has reviewed.', example: 4 }) unreviewed: number;
  @IntField({ description: 'Of those, how many are disputed.', example: 1 }) disputed: number;
  @DateTimeField({ description: 'When the newest was made.' }) latest_at: string;
  @ListField('uuid', { max: 3, description: 'The newest of them.' }) sample_decision_ids: string[];
}

export class RevisionDraftResponse {
  @UuidField({ nullable: true, description: 'The instruction draft; null when the correction is published already and there is no draft.' })
  draft_id: string | null;

  @UuidField({ nullable: true, description: 'The published instruction that the draft began from.' }) base_revision_id: string | null;
  @StringField({ description: 'The instruction as it now reads.' }) content: string;
  @BooleanField({ description: 'This call has appended the correction.' }) appended: boolean;
  @BooleanField({ description: 'It was there before.' }) already_appended: boolean;
}
