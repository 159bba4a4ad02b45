import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IdField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  PageQuery,
  SlugField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { IdOrNone } from '../common';
import { InboxChannelResponse } from './channel.dto';
import { CHANNEL_KINDS, HANDLER_KINDS, INBOX_STATUSES, type ChannelKind, type HandlerKind, type InboxStatus } from './values';

const INBOX_ID = { description: 'The inbox.', example: 'inb_01jd3k5m7n9p1r3s5t7v9w1x3z' };
const LIMIT = (description: string) =>
  IntField({ nullable: true, min: 1, max: 1_000_000_000, description: `${description} Null: any number.`, example: 100 });

/** Who gets what no rule sends elsewhere. */
export class InboxTarget {
  @EnumField(HANDLER_KINDS, { nullable: true, description: 'What gets the messages that no rule sends elsewhere.', example: 'agent' })
  target_kind: HandlerKind | null;
  @IdField({
    nullable: true,
    max: 64,
    description: 'Id of that agent or process. Null, as its kind, for nobody.',
    example: '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11',
  })
  target_id: string | null;
}

/** What can be set of an inbox. */
export class InboxSettingsBody extends InboxTarget {
  @StringField({ min: 1, max: 120, description: 'What people call it.', example: 'Orders' }) name: string;
  @EnumField(INBOX_STATUSES, { description: 'A paused one holds what comes; a disabled one takes nothing.', example: 'active' })
  status: InboxStatus;
  @IntField({ min: 1, max: 365, description: 'Days for which what messages say is kept. Default 30.', example: 30 }) retention_days: number;
  @LIMIT('Messages a UTC day.') rate_limit_messages_per_day: number | null;
  @LIMIT('Calls of classifiers a UTC day.') rate_limit_classifier_calls_per_day: number | null;
  @LIMIT('Messages of one sender an hour.') rate_limit_per_sender_per_hour: number | null;
  @LIMIT('Messages of one sender a minute.') rate_limit_per_sender_per_minute: number | null;
  @BooleanField({ description: 'Whether a sudden flood is held. Default false.', example: false }) spike_protection_enabled: boolean;
  @ObjectField({
    description:
      'How it answers: `reply` is `off` (default), `auto` (the last words of a turn are mailed) or `tool` (the agent mails by a tool), `reply_delay_s` 0 to 3600, `from_name`. Other keys are kept.',
    example: { reply: 'off' },
  })
  settings: Record<string, unknown>;
}

export class CreateInboxRequest extends IntersectionType(
  PickType(InboxSettingsBody, ['name']),
  PartialType(PickType(InboxSettingsBody, ['target_kind', 'target_id', 'settings']), { skipNullProperties: false }),
) {
  @SlugField({ description: 'Names it in its addresses; it stays.', example: 'orders' }) slug: string;
  @ListField(CHANNEL_KINDS, { optional: true, max: 20, description: 'Channels that are made with it.', example: ['email'] })
  channels?: ChannelKind[];
}

/** `settings` are changed key by key, and null removes one; all else is replaced. */
export class UpdateInboxRequest extends PartialType(InboxSettingsBody, { skipNullProperties: false }) {}

export class InboxListQuery extends PageQuery {
  @IdOrNone('Only inboxes of this project, or `none`.') project_id?: string;
  @EnumField(HANDLER_KINDS, { optional: true, description: 'Only inboxes that hand on to agents, or to processes.' })
  target_kind?: HandlerKind;
  @IdField({ optional: true, max: 64, description: 'Only inboxes that hand on to this one.' }) target_id?: string;
}

export class InboxRevisionSummary {
  @UuidField({ description: 'The revision.' }) id: string;
  @IntField({ description: '1, 2, 3 … within the inbox.', example: 3 }) version: number;
  @DateTimeField({ nullable: true, description: 'When it was deployed last.' }) deployed_at: string | null;
}

export class InboxVerdicts {
  @IntField({ description: 'Accepted.', example: 40 }) accepted: number;
  @IntField({ description: 'Dropped.', example: 2 }) dropped: number;
  @IntField({ description: 'Held, for whatever reason.', example: 1 }) quarantined: number;
}

export class InboxResponse extends OmitType(InboxSettingsBody, []) {
  @StringField(INBOX_ID) id: string;
  @StringField({ description: 'Names it in its addresses.', example: 'orders' }) slug: string;
  @UuidField({ nullable: true, description: 'The project it belongs to.' }) project_id: string | null;
  @ListField(() => InboxChannelResponse, { description: 'Its channels, in the order in which they were made.' })
  channels: InboxChannelResponse[];
  @NestedField(() => InboxRevisionSummary, {
    nullable: true,
    description: 'The rule set that is deployed; without one everything is accepted.',
  })
  current_revision: InboxRevisionSummary | null;
  @IntField({ description: 'Messages of the last 24 hours.', example: 43 }) volume_24h: number;
  @NestedField(() => InboxVerdicts, { description: 'What became of them, as far as that is settled.' }) verdicts_24h: InboxVerdicts;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
