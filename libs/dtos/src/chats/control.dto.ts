import { FINISH_REASONS, type MessageFinish } from '@aps/contracts';
import { BooleanField, DateTimeField, EnumField, ListField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { RunLease, RunQueue } from '../common/run-standing.dto';
import { CHAT_STATUSES, ChatErrorDto } from './chat.dto';

const STATUS = { name: 'ChatStatus' };

export class UpdateChatRequest {
  @BooleanField({
    optional: true,
    description: 'True closes the chat and stops what it does. False is refused for an archived chat, and changes nothing otherwise.',
  })
  archived?: boolean;
  @BooleanField({
    optional: true,
    description: 'Open to every member of the organization, with all chats that it has delegated to. Only its creator may change this.',
  })
  shared?: boolean;
  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 200,
    description: 'What the chat is about. Null: none.',
    example: 'Invoices of March',
  })
  title?: string | null;
}

export class TerminateChatResponse {
  @UuidField({ description: 'The chat.' }) chat_id: string;
  @EnumField(CHAT_STATUSES, { ...STATUS, description: 'What the chat is now.' }) status: string;
  @BooleanField({ description: 'False when it was over already.' }) terminated: boolean;
  @DateTimeField({ nullable: true, description: 'When it was terminated.' }) completed_at: string | null;
  @ListField('uuid', { description: 'Requests to humans that were cancelled with it.' }) cancelled_hitl_request_ids: string[];
}

export class ChatBlockedByDto {
  @EnumField(['human', 'child', 'timer', 'cap', 'credits', 'budget', 'route', 'lease', 'org_suspended', 'agent_deleted'], {
    name: 'ChatBlockedByKind',
    description:
      '`cap`: too many chats of the organization run. `lease`: the worker has gone silent, another one takes over. `credits`: used up, or the model has no price.',
  })
  kind: string;
  @DateTimeField({ nullable: true, description: 'Since when; null of a lease that was taken from its worker until another one has it.' })
  since: string | null;
  @StringField({
    nullable: true,
    description:
      'What of that kind: the request, the child chat, the time at which the timer ends, the worker, the organization, the agent, or a code.',
  })
  ref: string | null;
}

export class ChatLastTurnDto {
  @UuidField({ description: 'The turn.' }) turn_id: string;
  @EnumField(FINISH_REASONS, {
    name: 'FinishReason',
    nullable: true,
    description: 'Why its last answer ended; null where the turn failed or was stopped.',
  })
  finish_reason: MessageFinish | null;
  @NestedField(() => ChatErrorDto, { nullable: true, description: 'Why it failed.' }) error: ChatErrorDto | null;
}

export class ChatDiagnosisResponse {
  @EnumField(CHAT_STATUSES, { ...STATUS, description: 'What the chat is.' }) state: string;
  @NestedField(() => ChatBlockedByDto, {
    nullable: true,
    description: 'What keeps it from going on; null when nothing does, or there is nothing to do.',
  })
  blocked_by: ChatBlockedByDto | null;
  @NestedField(() => RunLease, { nullable: true, description: 'Who runs its turn.' }) lease: RunLease | null;
  @NestedField(() => RunQueue, { nullable: true, description: 'Where a turn that has not begun stands.' }) queue: RunQueue | null;
  @NestedField(() => ChatLastTurnDto, { nullable: true, description: 'The newest turn that ran and is over; null where none has been.' })
  last_turn: ChatLastTurnDto | null;
  @EnumField(['answer', 'wait', 'continue', 'retry', 'message', 'add_credits', 'raise_budget', 'fix_route', 'unsuspend'], {
    name: 'ChatNextAction',
    nullable: true,
    description:
      'What would have it go on: one of `allowed_actions`, or what lifts `blocked_by`. Null where nothing will, as in a closed chat without a message.',
  })
  next_action: string | null;
  @ListField(['message', 'stop', 'terminate', 'continue', 'retry', 'archive', 'rename', 'share', 'delete'], {
    description: 'What the caller can do with it now that has an effect.',
  })
  allowed_actions: string[];
}
