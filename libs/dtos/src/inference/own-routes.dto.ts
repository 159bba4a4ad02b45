import { BooleanField, DateTimeField, EnumField, IntField, SlugField, StringField, UuidField } from '@aps/platform/http';
import { PartialType, PickType } from '@nestjs/swagger';
import { DIALECT_VALUES } from './values';

/** A route of the organization's own. */
export class CreateOrgInferenceRouteRequest {
  @SlugField({ description: 'Its name in settings, which no other route of anybody has.', example: 'our-vllm' }) slug: string;
  @StringField({ min: 1, max: 200, description: 'Its name.', example: 'Our vLLM' }) label: string;

  @EnumField(DIALECT_VALUES, {
    name: 'Dialect',
    description: 'The dialect spoken there: 1 Chat Completions, 2 Messages, 3 generateContent.',
    example: 'dialect_1',
  })
  dialect: (typeof DIALECT_VALUES)[number];

  @StringField({
    min: 1,
    max: 2_048,
    description: 'Where it answers: https, on the public internet, with the version in the path and without a query.',
    example: 'https://models.example.com/v1',
  })
  base_url: string;
}

/** Only what is there changes. Slug and dialect stay as they are. */
export class UpdateOrgInferenceRouteRequest extends PartialType(PickType(CreateOrgInferenceRouteRequest, ['base_url', 'label']), {
  skipNullProperties: false,
}) {
  @BooleanField({ optional: true, description: 'False: calls of the models on it fail.', example: true }) enabled?: boolean;
}

export class OrgInferenceRouteResponse {
  @UuidField({ description: 'The route.' }) id: string;
  @StringField({ description: 'Its name in settings.', example: 'our-vllm' }) slug: string;
  @StringField({ description: 'Its name.', example: 'Our vLLM' }) label: string;

  @EnumField(DIALECT_VALUES, { name: 'Dialect', description: 'The dialect spoken there.', example: 'dialect_1' })
  dialect: (typeof DIALECT_VALUES)[number];

  @StringField({ nullable: true, description: 'Where it answers.', example: 'https://models.example.com/v1' }) base_url: string | null;
  @BooleanField({ description: 'Whether its models can be called.', example: true }) enabled: boolean;
  @IntField({ description: 'How many enabled models are on it.', example: 2 }) pin_count: number;

  @StringField({ nullable: true, description: 'The key for it, masked; it is set with those of all routes.', example: 'sk-…4f2a' })
  api_key: string | null;

  @BooleanField({ description: 'Whether there is a key for it.', example: true }) is_set: boolean;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it last changed.' }) updated_at: string;
}
