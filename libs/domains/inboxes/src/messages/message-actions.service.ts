import { Injectable } from '@nestjs/common';
import { CloseService } from '@aps/chats';
import { DomainError } from '@aps/contracts';
import { Inbox, InboxMessage, type Dispatched } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, OrgTable, type Tx } from '@aps/platform/database';
import { RunBegins } from '@aps/processes';
import { Handlers } from '../handlers';
import { targetOf, type TargetInput } from '../inboxes.policy';
import { Evaluations } from '../pipeline/evaluations';
import { RepliesService } from '../replies/replies.service';
import { effectOf, isRefusal, type ActionRefusal, type MessageAction } from './message-actions.policy';
import { MessageLog } from './message-log';
import { MessagesQueries, type MessageDetail } from './messages.queries';
import { MessagesRepository } from './messages.repository';

const REFUSALS: Record<ActionRefusal, string> = {
  not_held: 'This message is not held.',
  still_evaluating: 'This message is being evaluated.',
  payload_expired: 'What this message says is no longer kept.',
};
const DONE: Record<MessageAction, string> = {
  retry: 'inbox_message.retried',
  replay: 'inbox_message.replayed',
  release: 'inbox_message.released',
  terminate: 'inbox_message.terminated',
};

/** What people do with messages that have come in. */
@Injectable()
export class MessageActions {
  private readonly inboxes = new OrgTable(Inbox);
  private readonly messages = new OrgTable(InboxMessage, 'Message');

  constructor(
    private readonly db: Database,
    private readonly queries: MessagesQueries,
    private readonly repository: MessagesRepository,
    private readonly evaluations: Evaluations,
    private readonly handlers: Handlers,
    private readonly chats: CloseService,
    private readonly runs: RunBegins,
    private readonly replies: RepliesService,
    private readonly log: MessageLog,
    private readonly audit: Audit,
  ) {}

  /**
   * Has a message evaluated under the rule set that is deployed now; it may be dispatched a second time. `retry` is for what is held.
   *
   * @throws DomainError `not_found`; 409 `payload_expired`, and of a retry `not_held`, `still_evaluating`
   */
  evaluate(scope: OrgScope, inboxId: string, id: string, action: 'retry' | 'replay'): Promise<MessageDetail> {
    return this.act(scope, inboxId, id, action, (tx, message) =>
      this.evaluations.begin(tx, message, action, { user_id: scope.actor.userId }),
    );
  }

  /**
   * Lets a held message through by hand, past gates and stages.
   *
   * @param input whom it goes to; nobody: to the target of its inbox
   * @throws DomainError `not_found`; 409 `not_held`, `payload_expired`; 422 `validation_error`, `unknown_reference`
   */
  release(scope: OrgScope, inboxId: string, id: string, input: TargetInput): Promise<MessageDetail> {
    const target = targetOf(input, null);
    return this.act(scope, inboxId, id, 'release', async (tx, message) => {
      if (target) await this.handlers.require(tx, scope, target);
      await this.evaluations.begin(tx, message, 'release', { user_id: scope.actor.userId, target });
    });
  }

  /**
   * Ends a message and all that it has begun: chats with what they have delegated to, and retries of them, runs, and those that do them again, and the mail that was to
   * answer it. What it was found to be stays written. Again it changes nothing.
   *
   * @throws DomainError `not_found`
   */
  terminate(scope: OrgScope, inboxId: string, id: string): Promise<MessageDetail> {
    return this.act(scope, inboxId, id, 'terminate', async (tx, message) => {
      await this.repository.terminate(tx, id);
      await this.chats.endWithRetries(tx, scope, chatsOf(message));
      await this.runs.cancelWithRestarts(tx, scope.orgId, runsOf(message));
      // Behind the locks of the chats, where nobody writes another answer any more.
      await this.replies.standDown(tx, id);
      const detail = { user_id: scope.actor.userId };
      await this.evaluations.trace(tx, message, { stage_id: 'terminated', kind: 'terminated', outcome: 'terminated', detail });
      await this.log.changed(tx, [id]);
    });
  }

  private act(
    scope: OrgScope,
    inboxId: string,
    id: string,
    action: MessageAction,
    take: (tx: Tx, message: InboxMessage) => Promise<void>,
  ): Promise<MessageDetail> {
    return this.db.transaction(scope, async (tx) => {
      await this.inboxes.get(tx, scope, inboxId);
      const message = await this.messages.get(tx, scope, { id, inbox_id: inboxId }, 'for no key update');
      const effect = effectOf(action, { ...message, raw_available: message.raw_available && message.raw_expires_at > this.db.now() });
      if (isRefusal(effect)) throw new DomainError(effect, REFUSALS[effect]);
      if (effect !== 'none') {
        await this.audit.record(tx, scope, DONE[action], id, { inbox_id: inboxId });
        await take(tx, message);
      }
      return this.queries.get(scope, inboxId, id, tx);
    });
  }
}

const runsOf = ({ dispatched, previous_dispatches: earlier }: InboxMessage): string[] =>
  [...earlier, dispatched].flatMap((one: Dispatched | null) => (one?.kind === 'process' ? [one.run_id] : []));
const chatsOf = ({ dispatched, previous_dispatches: earlier }: InboxMessage): string[] =>
  [...earlier, dispatched].flatMap((one: Dispatched | null) => (one?.kind === 'agent' ? [one.chat_id] : []));
