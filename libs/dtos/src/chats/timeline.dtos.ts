import { DateTimeField, DecimalString, IntField, NestedField, ObjectField, PageQuery, StringField } from '@aps/platform/http';
import { TokenCounts } from './cost.dtos';

export class TimelineActor {
  @StringField({ description: '`user`, `agent`, `tool`, `system`, or what began the chat: `inbox`, `process`, `api`, `schedule`.', example: 'user' })
  kind: string;
  @StringField({ nullable: true, description: 'Which one.' })
  id: string | null;
  @StringField({ nullable: true, description: 'Its name.' })
  name: string | null;
}

export class TimelineCost {
  @DecimalString({ nullable: true, description: 'Null where the organization pays in credits, and where the model had no price.' })
  cost_usd: string | null;
  @DecimalString({ description: 'Credits.' })
  credits: string;
}

export class TimelineEvent {
  @StringField({ description: 'The event. A number is the id that the chat’s stream gives it.', example: '41' })
  id: string;
  @IntField({ description: 'Its place in the timeline, counted from the oldest; it stays.' })
  seq: number;
  @StringField({
    description:
      '`user_message_received`, `agent_step`, `assistant_message`, `tool_call`, `tool_result`, `decision_recorded`, `hitl_requested`, `hitl_resolved`, `delegation_started`, `delegation_finished`, ' +
      '`status_changed`, `todo_updated`, `memory_written`, `compaction`, `blocker`, `error`; others may come.',
    example: 'user_message_received',
  })
  type: string;
  @DateTimeField({ description: 'When it happened.' })
  created_at: string;
  @NestedField(() => TimelineActor, { description: 'Who did it.' })
  actor: TimelineActor;
  @StringField({ nullable: true, description: 'One line for a human.' })
  message: string | null;
  @ObjectField({ description: 'What the event tells, by its type. `user_message_received` has `content` and `attachments`, `agent_step` has `kind`: `llm` or `tool`.' })
  metadata: Record<string, unknown>;
  @NestedField(() => TokenCounts, { nullable: true, description: 'Tokens of a model call; only on its `agent_step`.' })
  usage: TokenCounts | null;
  @NestedField(() => TimelineCost, { nullable: true, description: 'What a model call cost; only on its `agent_step`.' })
  cost: TimelineCost | null;
}

export class TimelineQuery extends PageQuery {}
