import { KEPT_EVENTS } from '@aps/contracts';
import { DateTimeField, DecimalString, EnumField, IntField, NestedField, ObjectField, PageQuery, StringField } from '@aps/platform/http';
import { TokenCounts } from './cost.dto';

/** Events of the stream under their names there, but answers, which have a step before them and a name of their own. */
const SAME_NAME = KEPT_EVENTS.filter((type) => type !== 'message_completed');
const TIMELINE_EVENT_TYPES = ['user_message_received', 'agent_step', 'assistant_message', ...SAME_NAME];

export class TimelineActor {
  @EnumField(['user', 'agent', 'tool', 'system', 'inbox', 'process', 'api', 'schedule'], {
    name: 'TimelineActorKind',
    description: 'The last four are what began the chat.',
    example: 'user',
  })
  kind: string;
  @StringField({ nullable: true, description: 'Which one.' }) id: string | null;
  @StringField({ nullable: true, description: 'Its name.' }) name: string | null;
}

export class TimelineCost {
  @DecimalString({ nullable: true, description: 'Null where the organization pays in credits, and where the model had no price.' })
  cost_usd: string | null;
  @DecimalString({ description: 'Credits.' }) credits: string;
}

export class TimelineEvent {
  @StringField({ description: 'The event. A number is the id that the chat’s stream gives it.', example: '41' }) id: string;
  @IntField({ description: 'Its place in the timeline, counted from the oldest; it stays.' }) seq: number;
  @EnumField(TIMELINE_EVENT_TYPES, {
    name: 'TimelineEventType',
    description: 'What happened; others may come.',
    example: 'user_message_received',
  })
  type: string;
  @DateTimeField({ description: 'When it happened.' }) created_at: string;
  @NestedField(() => TimelineActor, { description: 'Who did it.' }) actor: TimelineActor;
  @StringField({ nullable: true, description: 'One line for a human.' }) message: string | null;
  @ObjectField({
    description:
      'What the event tells, by its type. `user_message_received` has `content` and `attachments`, `agent_step` has `kind`: `llm` or `tool`, and `status`. An `llm` step is ' +
      '`restarted` where its worker went away in the middle and another one asked the model anew, `context_sha256` that of the agent’s effective context then; `tool_result` has the `status` of the stream’s event.',
  })
  metadata: Record<string, unknown>;
  @NestedField(() => TokenCounts, { nullable: true, description: 'Tokens of a model call; only on its `agent_step`.' })
  usage: TokenCounts | null;
  @NestedField(() => TimelineCost, { nullable: true, description: 'What a model call cost; only on its `agent_step`.' })
  cost: TimelineCost | null;
}

export class TimelineQuery extends PageQuery {}
