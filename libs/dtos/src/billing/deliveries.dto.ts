import {
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  PageOf,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';

const BILLING_EVENT_STATUSES = ['received', 'applied', 'ignored', 'unresolved', 'failed'] as const;
type BillingEventStatus = (typeof BILLING_EVENT_STATUSES)[number];

export class BillingDeliveryResponse {
  @UuidField({ description: 'What it is stored as.' }) event_id: string;
}

export class BillingEventListQuery extends PageQuery {
  @UuidField({ optional: true, description: 'Only of this organization; those that have not been applied yet have none.' }) org_id?: string;

  @EnumField(BILLING_EVENT_STATUSES, { optional: true, name: 'BillingEventStatus', description: 'Only of this status.', example: 'failed' })
  status?: BillingEventStatus;
}

export class BillingEventItem {
  @UuidField({ description: 'The delivery.' }) id: string;
  @StringField({ description: 'Who delivered it.', example: 'polar' }) provider: string;
  @StringField({ description: 'The provider’s name for it: its repeats have the same.', example: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' })
  delivery_id: string;
  @StringField({ description: 'What happened.', example: 'order.paid' }) type: string;
  @UuidField({ nullable: true, description: 'Whom it concerns; null until that is known.' }) org_id: string | null;

  @EnumField(BILLING_EVENT_STATUSES, {
    name: 'BillingEventStatus',
    description:
      '`received`: not applied yet. `ignored`: it changes nothing here. `unresolved`: applied as far as could be told what it means; somebody must look at it. `failed`: applying it failed; it is tried again up to eight times.',
    example: 'applied',
  })
  status: BillingEventStatus;

  @IntField({ description: 'How often it was tried to apply it.', example: 1 }) attempts: number;
  @StringField({ nullable: true, description: 'What went wrong, or what is to be said of it.' }) error: string | null;
  @ObjectField({ description: 'All that was delivered.', example: { type: 'order.paid', timestamp: '2026-11-20T09:30:00Z', data: {} } })
  payload: Record<string, unknown>;
  @DateTimeField({ description: 'When it came.' }) received_at: string;
  @DateTimeField({ nullable: true, description: 'When it was applied.' }) applied_at: string | null;

  @DateTimeField({ nullable: true, description: 'When what went wrong was made good, by a replay or by hand; its status stays.' })
  settled_at: string | null;
}

export class BillingEventCounts {
  @IntField({ description: 'Not applied yet.', example: 0 }) received: number;
  @IntField({ description: 'Applied.', example: 120 }) applied: number;
  @IntField({ description: 'Without a meaning here.', example: 40 }) ignored: number;
  @IntField({ description: 'To be looked at.', example: 0 }) unresolved: number;
  @IntField({ description: 'Gone wrong.', example: 0 }) failed: number;
}

export class BillingEventListResponse extends PageOf(BillingEventItem) {
  @NestedField(() => BillingEventCounts, { description: 'How many deliveries there are in all, by status.' })
  status_counts: BillingEventCounts;
}

export class SettleBillingEventRequest {
  @StringField({
    min: 1,
    max: 1_000,
    description: 'What was done about it, or why nothing. It stands in the audit log.',
    example: 'Refunded',
  })
  reason: string;
}

export class BillingEventReplayResponse {
  @UuidField({ description: 'The delivery.' }) event_id: string;

  @EnumField(['applied', 'no_op', 'failed'], {
    name: 'BillingReplayOutcome',
    description: '`no_op`: it was done before, or there is nothing to do.',
    example: 'applied',
  })
  outcome: 'applied' | 'no_op' | 'failed';

  @StringField({ nullable: true, description: 'What is to be said of it.' }) detail: string | null;
  @ListField('string', { description: 'Keys of what it has posted to the ledger.', example: ['polar:order:0193488e:pack'] })
  ledger_keys: string[];
}
