import { BooleanField, EnumField, IntField, ListField, StringField, UuidField } from '@aps/platform/http';
import { ROLLOUT_UNITS } from '../agents/rollout.dto';

/** What can be said of an experiment at any time. */
export class UpdateRolloutRequest {
  @StringField({
    optional: true,
    nullable: true,
    max: 200,
    description: 'What people call it; empty: nothing.',
    example: 'Shorter answers',
  })
  label?: string | null;

  @StringField({
    optional: true,
    nullable: true,
    max: 2_000,
    description: 'What it is to show; empty: nothing.',
    example: 'Shorter answers need fewer questions to humans.',
  })
  hypothesis?: string | null;
}

/** One revision among those that are compared: exactly one of `version`, `revision_id` and `use_draft` says which. */
export class ExperimentArmRequest {
  @StringField({ min: 1, max: 64, description: 'Names the arm within the experiment.', example: 'shorter' }) label: string;
  @IntField({ min: 1, max: 9_999, description: 'Its share of new chats, in basis points; all arms together have 10000.', example: 5_000 })
  weight: number;

  @IntField({ optional: true, nullable: true, min: 1, description: 'Number of a revision.', example: 3 }) version?: number | null;
  @UuidField({ optional: true, nullable: true, description: 'A revision.' }) revision_id?: string | null;

  @BooleanField({
    optional: true,
    description: 'The draft, which is sealed for it; with the instruction that is being written, where there is one.',
    example: false,
  })
  use_draft?: boolean;
}

export class StartExperimentRequest extends UpdateRolloutRequest {
  @ListField(() => ExperimentArmRequest, { min: 2, max: 5, description: 'What is compared.' }) arms: ExperimentArmRequest[];
  @StringField({ min: 1, max: 64, description: 'Label of the arm that the others are compared with.', example: 'as before' })
  control: string;

  @EnumField(ROLLOUT_UNITS, {
    optional: true,
    name: 'RolloutUnit',
    default: 'chat',
    description: 'What is assigned to an arm: each chat, or all chats of whoever began them.',
  })
  unit?: (typeof ROLLOUT_UNITS)[number];

  @BooleanField({ optional: true, default: false, description: 'Let arms be the same revision, word for word: to see what chance does.' })
  allow_identical?: boolean;

  @IntField({
    optional: true,
    min: 1,
    max: 100_000,
    description: 'Chats per arm below which results say nothing. Default: that of the deployment.',
    example: 30,
  })
  min_sample?: number;

  @StringField({
    optional: true,
    nullable: true,
    max: 64,
    description:
      'The `base_version` of the instruction that was read, where an arm names the draft. If it is no longer the current one, nothing is started (409). Without it the draft is tried as it stands.',
    example: 'v4',
  })
  base_version?: string | null;
}

export class PromoteRequest {
  @StringField({ min: 1, max: 64, description: 'Label of the arm that all new chats are to run on.', example: 'shorter' }) arm: string;
}
