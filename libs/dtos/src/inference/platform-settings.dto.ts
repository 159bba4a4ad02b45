import { MODEL_MODES, REASONING_EFFORTS, type ModelMode, type ReasoningEffort } from '@aps/contracts';
import { ApiProperty } from '@nestjs/swagger';
import { BooleanField, DecimalString, EnumField, IntField, ListField, NestedField, NumberField, StringField } from '@aps/platform/http';
import { modelKey } from './model-key';

const EffortField = (description: string) =>
  EnumField(REASONING_EFFORTS, { name: 'ReasoningEffort', optional: true, nullable: true, description, example: 'high' });
const ModeField = (mode: string) =>
  NestedField(() => ModePresetInput, {
    optional: true,
    nullable: true,
    description: `What the mode ${mode} stands for; null: the model that is taken anyway, thinking less or more.`,
  });

/** What a mode stands for. */
export class ModePresetInput {
  @StringField({ min: 1, max: 128, description: 'Key of a chat model.', example: 'claude-sonnet-5-5' }) model_key: string;
  @EffortField('How much it thinks; null: as much as the mode says.') reasoning_effort?: ReasoningEffort | null;

  @IntField({ optional: true, nullable: true, min: 1, max: 1_000_000, description: 'Tokens that it writes at most.', example: 8192 })
  max_output_tokens?: number | null;

  @BooleanField({ optional: true, nullable: true, description: 'False: it does not think in this mode.', example: true })
  thinking_enabled?: boolean | null;
}

/** Any of the modes. */
export class PreviewModesRequest {
  @ModeField('`trivial`') mode_trivial?: ModePresetInput | null;
  @ModeField('`normal`') mode_normal?: ModePresetInput | null;
  @ModeField('`high_effort`') mode_high_effort?: ModePresetInput | null;
  @ModeField('`x_high`') mode_x_high?: ModePresetInput | null;
}

/** Models of side work. Only what is there changes. */
export class FeatureModelsInput {
  @StringField(modelKey('that names chats')) title?: string | null;
  @StringField(modelKey('that sums up long chats')) compaction?: string | null;
  @StringField(modelKey('that classifies what comes in')) intake_classifier?: string | null;
  @StringField(modelKey('that chooses tools')) tool_router?: string | null;
  @StringField(modelKey('that distills knowledge')) distill?: string | null;
  @StringField(modelKey('that repairs payloads')) payload_repair?: string | null;
  @StringField(modelKey('of prompts that name none')) prompt_default?: string | null;
  @StringField(modelKey('that embeds, of the kind `embedding`')) embedding?: string | null;
  @StringField(modelKey('that ranks, of the kind `rerank`')) rerank?: string | null;
  @StringField(modelKey('that judges what a check of an instruction has brought')) judge?: string | null;
}

/** Only what is there changes; null defers to the environment. */
export class UpdatePlatformAISettingsRequest extends PreviewModesRequest {
  @StringField(modelKey('that is taken where nobody chose one')) default_model?: string | null;
  @EffortField('How much models think where nobody said.') default_reasoning_effort?: ReasoningEffort | null;
  @EffortField('How much anybody’s model thinks at most.') max_reasoning_effort?: ReasoningEffort | null;
  @NestedField(() => FeatureModelsInput, { optional: true, description: 'Models of side work.' }) feature_models?: FeatureModelsInput;

  @BooleanField({ optional: true, nullable: true, description: 'Whether models may think before they answer.', example: true })
  thinking_enabled?: boolean | null;

  @BooleanField({ optional: true, nullable: true, description: 'Whether long chats are compacted.', example: true })
  compaction_enabled?: boolean | null;

  @NumberField({
    optional: true,
    nullable: true,
    min: 0.1,
    max: 0.95,
    description: 'Share of the context window at which a chat is compacted.',
    example: 0.8,
  })
  compaction_threshold?: number | null;
}

/** What holds, with the environment behind what is null. */
export class EffectiveAISettings {
  @StringField({ nullable: true, description: 'Null: the first model that can be called.', example: 'claude-sonnet-5-5' })
  default_model: string | null;

  @EnumField(REASONING_EFFORTS, { name: 'ReasoningEffort', nullable: true, description: 'Null: as each model does.', example: null })
  default_reasoning_effort: ReasoningEffort | null;

  @EnumField(REASONING_EFFORTS, { name: 'ReasoningEffort', nullable: true, description: 'Null: no ceiling.', example: null })
  max_reasoning_effort: ReasoningEffort | null;

  @BooleanField({ description: 'Whether models may think before they answer.', example: true }) thinking_enabled: boolean;
  @BooleanField({ description: 'Whether long chats are compacted.', example: true }) compaction_enabled: boolean;
  @NumberField({ description: 'Share of the context window.', example: 0.8 }) compaction_threshold: number;
}

/** As stored: null defers to the environment. */
export class PlatformAISettingsResponse {
  @StringField({ nullable: true, description: 'Model where nobody chose one.', example: 'claude-sonnet-5-5' }) default_model: string | null;

  @EnumField(REASONING_EFFORTS, { name: 'ReasoningEffort', nullable: true, description: 'Effort where nobody said.', example: null })
  default_reasoning_effort: ReasoningEffort | null;

  @EnumField(REASONING_EFFORTS, { name: 'ReasoningEffort', nullable: true, description: 'The ceiling of efforts.', example: null })
  max_reasoning_effort: ReasoningEffort | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Model by side work; what is not listed takes the model of its chat.',
    example: { title: 'claude-haiku-5' },
  })
  feature_models: Record<string, string>;

  @BooleanField({ nullable: true, description: 'Whether models may think.', example: null }) thinking_enabled: boolean | null;
  @BooleanField({ nullable: true, description: 'Whether long chats are compacted.', example: null }) compaction_enabled: boolean | null;
  @NumberField({ nullable: true, description: 'Share of the context window.', example: null }) compaction_threshold: number | null;
  @NestedField(() => ModePresetInput, { nullable: true, description: 'The mode `trivial`.' }) mode_trivial: ModePresetInput | null;
  @NestedField(() => ModePresetInput, { nullable: true, description: 'The mode `normal`.' }) mode_normal: ModePresetInput | null;
  @NestedField(() => ModePresetInput, { nullable: true, description: 'The mode `high_effort`.' }) mode_high_effort: ModePresetInput | null;
  @NestedField(() => ModePresetInput, { nullable: true, description: 'The mode `x_high`.' }) mode_x_high: ModePresetInput | null;
  @NestedField(() => EffectiveAISettings, { description: 'What holds now.' }) effective: EffectiveAISettings;
}

export class ModePreview {
  @EnumField(MODEL_MODES, { name: 'ModelMode', description: 'The mode.', example: 'high_effort' }) mode: ModelMode;

  @StringField({ nullable: true, description: 'The model that it takes; null when there is no default.', example: 'claude-sonnet-5-5' })
  model_key: string | null;

  @EnumField(REASONING_EFFORTS, { name: 'ReasoningEffort', nullable: true, description: 'How much it thinks.', example: 'high' })
  reasoning_effort: ReasoningEffort | null;

  @DecimalString({
    nullable: true,
    description: 'What three input tokens and one of output cost, compared with `normal`; null where one of the two has no price.',
    example: '2.5',
  })
  burn_ratio: string | null;

  @DecimalString({ nullable: true, description: 'Credits per thousand input tokens; null where no rate says.', example: null })
  credits_per_1k_input: string | null;

  @DecimalString({ nullable: true, description: 'Credits per thousand output tokens; null where no rate says.', example: null })
  credits_per_1k_output: string | null;
}

export class ModePresetPreviewResponse {
  @ListField(() => ModePreview, { description: 'Every mode, from the least to the most expensive; those that were not sent as stored.' })
  items: ModePreview[];

  @StringField({
    nullable: true,
    description: 'The model that `normal` takes, with which others are compared.',
    example: 'claude-sonnet-5-5',
  })
  baseline: string | null;
}
