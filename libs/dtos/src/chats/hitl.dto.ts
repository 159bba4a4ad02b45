import {
  BooleanField,
  DateTimeField,
  EnumField,
  ListField,
  NestedField,
  ObjectField,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';

export const HITL_KINDS = ['question', 'approval', 'form'] as const;
export const HITL_STATUSES = ['pending', 'answered', 'cancelled', 'expired'] as const;
const DECISIONS = ['approve', 'reject', 'edit'] as const;
const KIND = { name: 'HitlKind' };
const STATUS = { name: 'HitlStatus' };
const DECISION = { name: 'HitlDecision' };

export class HitlRequestsQuery extends PageQuery {
  @EnumField(HITL_STATUSES, { ...STATUS, optional: true, description: 'Only requests in this state.' })
  status?: (typeof HITL_STATUSES)[number];
  @UuidField({ optional: true, description: 'Only requests of this chat.' }) chat_id?: string;
  @UuidField({ optional: true, description: 'Only requests of this process run.' }) run_id?: string;
  @UuidField({ optional: true, description: 'Only requests of this agent.' }) agent_id?: string;
}

export class AnswerHitlRequest {
  @EnumField(DECISIONS, {
    ...DECISION,
    optional: true,
    nullable: true,
    description: 'Of an approval, required there. `edit` approves with other arguments.',
  })
  decision?: (typeof DECISIONS)[number] | null;
  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 20_000,
    description: 'Of a question: the answer in words.',
    example: 'Take the train',
  })
  answer?: string | null;
  @StringField({ optional: true, nullable: true, max: 64, description: 'Of a question with options: the chosen one.' })
  option_id?: string | null;
  @ObjectField({
    optional: true,
    nullable: true,
    description: 'Of a form, required there: values by its schema, at most 32,000 characters as JSON.',
  })
  values?: Record<string, unknown> | null;
  @ObjectField({
    optional: true,
    nullable: true,
    description:
      'Of an approval that is edited: all arguments of the call, at most 200,000 characters as JSON. They are checked by the tool when it runs.',
  })
  edited_arguments?: Record<string, unknown> | null;
  @StringField({ optional: true, nullable: true, max: 5_000, description: 'For the agent, with any answer.' }) note?: string | null;
}

export class HitlOption {
  @StringField({ description: 'What an answer names.' }) id: string;
  @StringField({ description: 'What the human reads.' }) label: string;
}

export class HitlToolCall {
  @StringField({ description: 'The call of the agent that waits.' }) id: string;
  @StringField({ description: 'The tool that runs when it is approved.' }) tool_slug: string;
  @ObjectField({ description: 'With exactly these arguments.' }) arguments: Record<string, unknown>;
  @EnumField(['read', 'write', 'destructive'], { name: 'ToolAccessLevel', description: 'What the tool does.' }) access_level: string;
}

export class HitlAnswer {
  @EnumField(DECISIONS, { ...DECISION, optional: true, description: 'Of an approval.' }) decision?: string;
  @StringField({ optional: true, description: 'Of a question.' }) answer?: string;
  @StringField({ optional: true, description: 'Of a question with options.' }) option_id?: string;
  @ObjectField({ optional: true, description: 'Of a form.' }) values?: Record<string, unknown>;
  @ObjectField({ optional: true, description: 'Of an approval that was edited.' }) edited_arguments?: Record<string, unknown>;
  @StringField({ optional: true, description: 'What was said besides.' }) note?: string;
}

export class HitlRequest {
  @UuidField({ description: 'The request.' }) id: string;
  @UuidField({ nullable: true, description: 'The chat that waits; null for a process run.' }) chat_id: string | null;
  @UuidField({ nullable: true, description: 'The process run that waits; null for a chat.' }) run_id: string | null;
  @UuidField({ nullable: true, description: 'The agent that asks.' }) agent_id: string | null;
  @StringField({ nullable: true, description: 'Step of the turn, or of the process run.' }) step_id: string | null;
  @EnumField(HITL_KINDS, { ...KIND, description: 'What is asked for: an answer or an option, a yes or no, or values.' }) kind: string;
  @StringField({ description: 'What the human reads.' }) prompt: string;
  @ListField(() => HitlOption, { description: 'Of a question: what can be chosen.' }) options: HitlOption[];
  @ObjectField({ nullable: true, description: 'Of a form: JSON Schema of its values.' }) schema: Record<string, unknown> | null;
  @NestedField(() => HitlToolCall, { nullable: true, description: 'Of an approval: what runs when it is given.' })
  tool_call: HitlToolCall | null;
  @EnumField(HITL_STATUSES, { ...STATUS, description: 'Only a pending one can be answered.' }) status: string;
  @UuidField({ nullable: true, description: 'Who has to answer; null: anybody who sees it.' }) assignee_user_id: string | null;
  @ListField('string', {
    description: 'Of a process run: who may answer beside administrators, by role or as a user; empty for any member.',
    example: ['role:ADMIN'],
  })
  assignees: string[];
  @DateTimeField({ description: 'When it is given up, and its chat with it.' }) expires_at: string;
  @UuidField({ nullable: true, description: 'Who answered.' }) answered_by: string | null;
  @DateTimeField({ nullable: true, description: 'When it was answered.' }) answered_at: string | null;
  @NestedField(() => HitlAnswer, { nullable: true, description: 'The answer; null until there is one.' }) answer: HitlAnswer | null;
  @DateTimeField({ description: 'When it was asked.' }) created_at: string;
  @DateTimeField({ description: 'When it changed last.' }) updated_at: string;
}

export class AnsweredHitlRequest extends HitlRequest {
  @BooleanField({
    description: 'Whether the chat goes on now. False while other questions of the same step are open, and where the chat is archived.',
  })
  resumed: boolean;
}
