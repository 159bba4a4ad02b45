import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  NumberField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { BILLING_UNITS } from '../agents/rollout.dto';

const bound = (what: string) => ({ nullable: true, description: what, example: 0.1 });

/** How an arm differs from the control; of the control itself it is null. */
export class ArmDifference {
  @NumberField(bound('Arm less control.')) delta: number | null;
  @NumberField(bound('Lower bound of the 95 % interval of the difference.')) delta_ci_low: number | null;
  @NumberField(bound('Upper bound of it.')) delta_ci_high: number | null;
  @BooleanField({ description: 'Whether the 95 % intervals of arm and control lie apart.', example: false }) significant: boolean;
  @NumberField(bound('Two-sided, of the hypothesis that there is no difference.')) p_value: number | null;
  @NumberField(bound('The same, adjusted for the number of arms (Holm).')) p_value_adjusted: number | null;

  @NumberField(
    bound(
      'Lower bound of a confidence sequence: it holds however often it is looked at. Null before there are `min_sample` chats in each arm, and ten, or where too few originators are behind them.',
    ),
  )
  sequential_ci_low: number | null;

  @NumberField(bound('Upper bound of it.')) sequential_ci_high: number | null;
  @BooleanField({ description: 'Whether zero is outside of the sequence: a difference, whenever one looks.', example: false })
  always_valid: boolean;
}

/** The chats that came to something, and their share. */
export class ArmOutcome extends ArmDifference {
  @IntField({ description: 'So many of the counted chats.', example: 40 }) count: number;
  @NumberField(bound('Their share; null without chats.')) share: number | null;
  @NumberField(bound('Lower bound of its 95 % interval (Wilson).')) ci_low: number | null;
  @NumberField(bound('Upper bound of it.')) ci_high: number | null;
}

export class ArmMetric extends ArmDifference {
  @NumberField(bound('Of the chats that have such a figure; null without any.')) mean: number | null;
  @NumberField(
    bound('Lower bound of its 95 % interval: Student’s, of shares Wilson’s, of cost and tokens up to 2,000 chats a bootstrap’s.'),
  )
  ci_low: number | null;
  @NumberField(bound('Upper bound of it.')) ci_high: number | null;
  @IntField({ description: 'Chats that have such a figure.', example: 120 }) n: number;
}

export class ArmOutcomes {
  @NestedField(() => ArmOutcome, { description: 'None of the others.' }) completed: ArmOutcome;
  @NestedField(() => ArmOutcome, { description: 'Failed, or closed for want of credits or a price.' }) errored: ArmOutcome;
  @NestedField(() => ArmOutcome, { description: 'With a decision to escalate.' }) escalated: ArmOutcome;
  @NestedField(() => ArmOutcome, { description: 'Given up, since nobody answered.' }) abandoned: ArmOutcome;
  @NestedField(() => ArmOutcome, { description: 'Terminated, or deleted before it was over.' }) terminated: ArmOutcome;
}

export class ArmMetrics {
  @NestedField(() => ArmMetric, { description: 'In the billing unit, with all that the chat has delegated.' }) cost: ArmMetric;
  @NestedField(() => ArmMetric, { description: 'Of all kinds, with all that the chat has delegated.' }) tokens: ArmMetric;
  @NestedField(() => ArmMetric, { description: 'Tool calls for each turn.' }) tool_call_rate: ArmMetric;
  @NestedField(() => ArmMetric, { description: 'Share of chats that asked a human.' }) hitl_rate: ArmMetric;
  @NestedField(() => ArmMetric, { description: 'Seconds of all turns, less what they waited for humans and timers.' })
  duration_s: ArmMetric;
}

export class ArmDisputes extends ArmDifference {
  @NumberField(bound('Share of the reviewed decisions that are disputed.')) share: number | null;
  @NumberField(bound('Lower bound of its 95 % interval (Wilson).')) ci_low: number | null;
  @NumberField(bound('Upper bound of it.')) ci_high: number | null;
}

export class ArmDecisions {
  @IntField({
    description: 'Decisions in chats of the arm that are kept, at once and not when the chat is over; of the newest 20,000 of the rollout.',
    example: 80,
  })
  recorded: number;
  @IntField({ description: 'Those that a human has looked at.', example: 20 }) reviewed: number;
  @IntField({ description: 'Those that a human disputes.', example: 2 }) disputed: number;
  @NestedField(() => ArmDisputes, { description: 'How many of the reviewed ones are disputed.' }) dispute_rate: ArmDisputes;
}

export class ArmResults {
  @StringField({ description: 'The arm.', example: 'shorter' }) label: string;
  @BooleanField({ description: 'Whether the other arms are compared with it.', example: false }) is_control: boolean;
  @IntField({
    description: 'Chats that count: with a user’s message, no retries, and over; the newest 20,000 of the rollout.',
    example: 120,
  })
  chats: number;
  @IntField({ description: 'Chats, or people behind them, that it was ever assigned, by the unit of the rollout.', example: 150 })
  units: number;
  @NestedField(() => ArmOutcomes, { description: 'What its chats came to.' }) outcomes: ArmOutcomes;
  @NestedField(() => ArmMetrics, { description: 'What they took.' }) metrics: ArmMetrics;
  @NestedField(() => ArmDecisions, { description: 'What was decided in them.' }) decisions: ArmDecisions;
}

export class SampleRatio {
  @NumberField(bound('That units are assigned as the weights say; null while an arm expects fewer than five.')) p_value: number | null;
  @BooleanField({ description: 'They are not: the assignment is broken, and with it whatever is compared.', example: false })
  warning: boolean;
}

/** What has come of the chats of a rollout, by arm. Figures tell nothing that was said, so every member reads those of private chats, too. */
export class RolloutResultsResponse {
  @UuidField({ description: 'The rollout.' }) rollout_id: string;
  @EnumField(BILLING_UNITS, { name: 'BillingUnit', description: 'What costs are counted in.' })
  billing_unit: (typeof BILLING_UNITS)[number];
  @BooleanField({ description: 'Whether an arm has fewer counted chats than `min_sample`.', example: true }) insufficient_data: boolean;
  @DateTimeField({ description: 'When they were computed; they are remembered for 45 seconds.' }) computed_at: string;
  @NestedField(() => SampleRatio, { nullable: true, description: 'Whether arms get what their weights say; null for a deployment.' })
  srm: SampleRatio | null;
  @ListField(() => ArmResults, { description: 'In the order of the rollout.' }) arms: ArmResults[];
}
