import { IntField, ListField, StringField, UuidField } from '@aps/platform/http';

export class SubscriptionBackfillRequest {
  @UuidField({
    optional: true,
    nullable: true,
    description: 'Only this organization. Omitted: every organization that has no subscription.',
  })
  org_id?: string | null;

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 128,
    description: 'Code of the plan. Omitted: the plan of new organizations (CREDITS_DEFAULT_NEW_ORG_PLAN).',
    example: 'trial',
  })
  plan_code?: string | null;
}

export class SubscriptionBackfillResponse {
  @IntField({ description: 'Subscriptions that were made.', example: 3 }) created: number;
  @IntField({ description: 'Organizations that were looked at and left as they are.', example: 12 }) skipped: number;
  @StringField({ description: 'Code of the plan.', example: 'trial' }) plan_code: string;
  @ListField('uuid', { description: 'The organizations that were subscribed.' }) org_ids: string[];
}
