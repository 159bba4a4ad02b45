import { DateTimeField, EnumField, ListField, NestedField, StringField } from '@aps/platform/http';
import { ChatLastTurnDto } from '../chats/control.dto';
import { RunLease, RunQueue } from '../common/run-standing.dto';
import { HOLD_REASONS, MESSAGE_STATES } from './values';

const OF_CHATS = ['human', 'child', 'timer', 'cap', 'credits', 'budget', 'route', 'lease', 'agent_deleted'] as const;
const OF_RUNS = ['event', 'concurrency', 'outcome_unknown', 'child_run'] as const;

export class InboxMessageBlockedBy {
  @EnumField([...HOLD_REASONS, 'evaluation', 'reply', ...OF_CHATS, ...OF_RUNS], {
    name: 'InboxMessageBlockedByKind',
    description:
      'Of a held message its `hold_reason`. `evaluation`: it is being evaluated. `reply`: its answer is not due yet. All others are those of the chat or the run that it was handed to.',
  })
  kind: string;
  @DateTimeField({ nullable: true, description: 'Since when; null of a lease that was taken from its worker until another one has it.' })
  since: string | null;
  @StringField({
    nullable: true,
    description:
      'What of that kind: the gate or stage, the organization, the worker, or the time at which the reply is due; else what the diagnosis of the chat or the run says.',
  })
  ref: string | null;
  @DateTimeField({
    nullable: true,
    description:
      'When that ends by itself: a window opens, a timer is over. A time that has passed means any moment now; null that nobody can tell.',
  })
  until: string | null;
  @EnumField(['itself', 'member', 'admin', 'operator'], {
    name: 'InboxMessageFreedBy',
    nullable: true,
    description:
      'Who can end it: it ends by itself, or any member, an administrator or an operator of the platform does; null where nobody can.',
  })
  freed_by: string | null;
  @StringField({
    description: 'How that goes, for a human.',
    example: 'The messages of the inbox of this day are used up; it goes on at midnight UTC.',
  })
  sentence: string;
}

export class InboxMessageDiagnosisResponse {
  @EnumField(MESSAGE_STATES, { name: 'InboxMessageState', description: 'Where the message is.' }) state: string;
  @NestedField(() => InboxMessageBlockedBy, {
    nullable: true,
    description: 'What keeps it from going on; null when nothing does, or there is nothing to do.',
  })
  blocked_by: InboxMessageBlockedBy | null;
  @NestedField(() => RunLease, { nullable: true, description: 'Who evaluates it, or runs the turn of its chat, or its run.' })
  lease: RunLease | null;
  @NestedField(() => RunQueue, {
    nullable: true,
    description:
      'Where an evaluation that has not begun stands among those of the inbox, or a turn of its chat, or its run, among those of the organization.',
  })
  queue: RunQueue | null;
  @NestedField(() => ChatLastTurnDto, { nullable: true, description: 'Of its chat: the newest turn that ran and is over.' })
  last_turn: ChatLastTurnDto | null;
  @EnumField(
    [
      ...['wait', 'release', 'retry', 'replay', 'set_target', 'activate', 'add_credits', 'unsuspend'],
      ...['answer', 'continue', 'retry_chat', 'message', 'raise_budget', 'fix_route', 'signal', 'restart_run'],
    ],
    {
      name: 'InboxMessageNextAction',
      nullable: true,
      description:
        'What would have it go on: one of `allowed_actions`, something that is done to the inbox or the organization, or to the chat or the run that it was handed to. Null where nothing will, or need be done.',
    },
  )
  next_action: string | null;
  @ListField(['retry', 'replay', 'terminate', 'release'], { description: 'What the caller can do with it now that has an effect.' })
  allowed_actions: string[];
}
