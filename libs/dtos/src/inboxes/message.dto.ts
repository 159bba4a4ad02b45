import { ApiProperty, IntersectionType, PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  JsonField,
  ListField,
  NestedField,
  NumberField,
  ObjectField,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { TimelineCost } from '../chats/timeline.dto';
import { InboxTarget } from './inbox.dto';
import {
  CHANNEL_KINDS,
  EVALUATION_STATES,
  HANDLER_KINDS,
  HOLD_REASONS,
  MESSAGE_LANES,
  MESSAGE_STATES,
  VERDICTS,
  type ChannelKind,
  type EvaluationState,
  type MessageLane,
  type MessageState,
  type Verdict,
} from './values';

/** More hours than there will be messages of. */
const MAX_HOURS = 100_000;
const STATE = { name: 'InboxMessageState' };
const VERDICT = { name: 'InboxVerdict' };
const EVALUATION = { name: 'InboxEvaluationState' };
const HOLD = { name: 'InboxHoldReason' };

export class InboxMessageCountsQuery {
  @EnumField(CHANNEL_KINDS, { optional: true, description: 'Only what came by mail, or by webhooks.' }) channel?: ChannelKind;
  @StringField({ optional: true, max: 200, description: 'Only what has this in its sender, its subject, or the name of what decided.' })
  search?: string;
  @IntField({ optional: true, min: 1, max: MAX_HOURS, description: 'Only what came in so many hours up to now.', example: 24 })
  within_hours?: number;
}

export class InboxMessageListQuery extends IntersectionType(PageQuery, InboxMessageCountsQuery) {
  @ListField(MESSAGE_STATES, { optional: true, description: 'Only messages in one of these states; of an empty list there are none.' })
  state?: MessageState[];
  @EnumField(MESSAGE_LANES, { optional: true, description: '`needs_attention` is what is held or failed.' }) lane?: MessageLane;
  @EnumField(EVALUATION_STATES, { ...EVALUATION, optional: true, description: 'Only what is being evaluated, or what is not.' })
  evaluation_state?: EvaluationState;
  @EnumField(VERDICTS, { ...VERDICT, optional: true, description: 'Only this verdict; `quarantined` as far as that is settled.' })
  verdict?: Verdict;
}

/** Whom a message goes to instead of the target of its inbox: kind and id, or neither. */
export class ReleaseInboxMessageRequest extends PartialType(InboxTarget, { skipNullProperties: false }) {}

export class InboxMessageCounts {
  @IntField({ description: 'All of them.', example: 43 }) total: number;
  @IntField({ description: 'Accepted.', example: 40 }) accepted: number;
  @IntField({ description: 'Dropped.', example: 2 }) dropped: number;
  @IntField({ description: 'Of that verdict, as far as it is settled.', example: 1 }) quarantined: number;
  @IntField({ description: 'Held.', example: 1 }) held: number;
  @IntField({ description: 'Accepted, but what was to get them could not be started.', example: 0 }) failed: number;
  @IntField({ description: 'Being evaluated.', example: 0 }) evaluating: number;
  @IntField({ description: 'Held, or failed.', example: 1 }) needs_attention: number;
}

export class InboxMessageChannel {
  @UuidField({ description: 'The channel, which may have been deleted since.' }) id: string;
  @EnumField(CHANNEL_KINDS, { description: 'What came in by it.' }) kind: ChannelKind;
}

export class InboxMessageSender {
  @StringField({ description: 'Their address; of a webhook, what stands at its `sender_path`.', example: 'ann@example.com' })
  address: string;
  @StringField({ nullable: true, description: 'What they call themselves.', example: 'Ann' }) name: string | null;
}

export class InboxMessageRevision {
  @UuidField({ description: 'The revision.' }) id: string;
  @IntField({ description: '1, 2, 3 … within the inbox.', example: 3 }) version: number;
}

export class InboxDispatch {
  @EnumField(HANDLER_KINDS, { description: 'What got the message.' }) kind: string;
  @UuidField({ optional: true, description: 'The chat, of an agent.' }) chat_id?: string;
  @UuidField({ optional: true, description: 'The run, of a process.' }) run_id?: string;
}

export class InboxMessageReply {
  @EnumField(['none', 'armed', 'sent', 'stood_down', 'suppressed'], {
    name: 'InboxReplyState',
    description: '`armed`: it is mailed when it is due. `stood_down`: the message was terminated. `suppressed`: nobody is to be answered.',
  })
  state: string;
  @DateTimeField({ nullable: true, description: 'When it is mailed, or was to be.' }) due_at: string | null;
  @DateTimeField({ nullable: true, description: 'When it was mailed.' }) sent_at: string | null;
}

export class InboxMessageIndexResponse {
  @UuidField({ description: 'The message.' }) id: string;
  @NestedField(() => InboxMessageChannel, { description: 'By what it came.' }) channel: InboxMessageChannel;
  @StringField({ nullable: true, description: 'Of mail: the address it was written to.', example: 'orders@acme.inbound.example.com' })
  recipient: string | null;
  @NestedField(() => InboxMessageSender, { nullable: true, description: 'Who sent it.' }) sender: InboxMessageSender | null;
  @StringField({ nullable: true, description: 'What it is about.', example: 'Order 4711' }) subject: string | null;
  @IntField({ description: 'Its size as it came.', example: 2048 }) size_bytes: number;
  @ListField('string', { description: 'What stages have tagged it with.', example: ['vip'] }) tags: string[];
  @DateTimeField({ description: 'When it came.' }) received_at: string;
  @EnumField(VERDICTS, { ...VERDICT, nullable: true, description: 'What gates and stages say of it; null until they have.' })
  verdict: string | null;
  @EnumField(MESSAGE_STATES, { ...STATE, description: 'Where it is.' }) state: string;
  @EnumField(EVALUATION_STATES, { ...EVALUATION, description: 'Whether it is being evaluated.' }) evaluation_state: string;
  @EnumField(HOLD_REASONS, { ...HOLD, nullable: true, description: 'Why it is held.' }) hold_reason: string | null;
  @StringField({ nullable: true, description: 'The gate or stage that gave the verdict.', example: 'vip' }) decided_by: string | null;
  @NestedField(() => InboxMessageRevision, { nullable: true, description: 'The rule set; null where none was deployed.' })
  revision: InboxMessageRevision | null;
  @NestedField(() => InboxDispatch, { nullable: true, description: 'What it was handed to last.' }) dispatched: InboxDispatch | null;
  @NestedField(() => InboxMessageReply, { description: 'The mail that answers it, the newest of several.' }) reply: InboxMessageReply;
  @BooleanField({ description: 'Whether all that it says is still kept; without that it is not evaluated again.' }) raw_available: boolean;
  @DateTimeField({ description: 'Until when that is kept.' }) raw_expires_at: string;
  @DateTimeField({ nullable: true, description: 'When somebody terminated it.' }) terminated_at: string | null;
  @IntField({ description: 'How often it came again.', example: 0 }) duplicates: number;
  @DateTimeField({ nullable: true, description: 'When it came again last.' }) last_duplicate_at: string | null;
}

export class InboxAttachment {
  @UuidField({ description: 'The file, for as long as it is kept.' }) file_id: string;
  @StringField({ description: 'What its sender calls it.', example: 'order.pdf' }) filename: string;
  @StringField({ description: 'What it is, told from its bytes.', example: 'application/pdf' }) media_type: string;
  @IntField({ description: 'Its size.', example: 1024 }) size_bytes: number;
}

export class InboxAuthentication {
  @StringField({ description: 'Whether its host may send for the domain.', example: 'pass' }) spf: string;
  @StringField({ description: 'Whether the domain has signed it.', example: 'pass' }) dkim: string;
  @StringField({ description: 'What follows for who it says it is from.', example: 'pass' }) dmarc: string;
}

export class InboxMessageEnvelope {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Headers by their lower-case names. What opens something is masked.',
    example: { 'message-id': '<1@example.com>' },
  })
  headers: Record<string, string>;
  @StringField({ description: 'Its text. After `raw_expires_at` the beginning of it.' }) body_text: string;
  @JsonField({ description: 'Of a webhook: its JSON, whatever that is, or its form.', example: { order: 4711 } })
  payload: unknown;
  @ListField(() => InboxAttachment, { description: 'What came with it.' }) attachments: InboxAttachment[];
  @NestedField(() => InboxAuthentication, { nullable: true, description: 'Of mail: what SPF, DKIM and DMARC said on arrival.' })
  auth: InboxAuthentication | null;
}

export class InboxClassifierAnswer {
  @StringField({ nullable: true, description: 'What the model took it for.', example: 'sales' }) label: string | null;
  @NumberField({ nullable: true, description: 'How sure it was, 0 to 1.', example: 0.9 }) confidence: number | null;
  @StringField({ description: 'The model.' }) model: string;
  @NestedField(() => TimelineCost, { description: 'What that cost.' }) cost: TimelineCost;
}

export class InboxTraceRow {
  @IntField({ description: 'Its place, from 1, over all evaluations and what people did.', example: 1 }) seq: number;
  @StringField({ description: 'The stage; of a gate, its name.', example: 'vip' }) stage_id: string;
  @EnumField(['gate', 'match', 'classifier', 'default', 'dispatch', 'auto_release', 'manual_release', 'terminated'], {
    name: 'InboxTraceKind',
    description: 'What happened.',
  })
  kind: string;
  @StringField({ description: 'What came of it; others may come.', example: 'accept' }) outcome: string;
  @BooleanField({ nullable: true, description: 'Whether its condition held.' }) matched: boolean | null;
  @ObjectField({ nullable: true, description: 'What else is to be said, such as the `chat_id` of a dispatch.' })
  detail: Record<string, unknown> | null;
  @DateTimeField({ description: 'When it began.' }) started_at: string;
  @NumberField({ description: 'How long it took, in milliseconds.', example: 0.4 }) duration_ms: number;
  @NestedField(() => InboxClassifierAnswer, { nullable: true, description: 'Of a classifier: what the model answered.' })
  classifier: InboxClassifierAnswer | null;
}

export class InboxMessageDetailResponse extends InboxMessageIndexResponse {
  @ListField(() => InboxDispatch, { description: 'What it was handed to before, oldest first.' })
  previous_dispatches: InboxDispatch[];
  @NestedField(() => InboxMessageEnvelope, { description: 'What it says.' }) envelope: InboxMessageEnvelope;
  @ListField(() => InboxTraceRow, { description: 'What became of it, in the order in which that happened.' }) trace: InboxTraceRow[];
}

/** What is told on the topic of an inbox. */
export class InboxMessageUpdate {
  @UuidField({ description: 'The message.' }) message_id: string;
  @EnumField(MESSAGE_STATES, { ...STATE, description: 'Where it is.' }) state: string;
  @EnumField(VERDICTS, { ...VERDICT, nullable: true, description: 'What gates and stages say of it.' }) verdict: string | null;
  @EnumField(EVALUATION_STATES, { ...EVALUATION, description: 'Whether it is being evaluated.' }) evaluation_state: string;
  @EnumField(HOLD_REASONS, { ...HOLD, nullable: true, description: 'Why it is held.' }) hold_reason: string | null;
  @NestedField(() => InboxDispatch, { nullable: true, description: 'What it was handed to.' }) dispatched: InboxDispatch | null;
}
