import { Injectable } from '@nestjs/common';
import type { InboxReply } from '@aps/entities';
import { Database, NO_CALLER, storable, type Tx } from '@aps/platform/database';
import { parseEmail } from '@aps/platform/email';
import { Mailer, messageIdOf } from '@aps/platform/mail';
import { counter } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { PutOff } from '@aps/platform/queues';
import { uuidv7 } from 'uuidv7';
import { placeOf } from '../channels/addresses.policy';
import { isHash } from '../intake/text.policy';
import { MessageLog } from '../messages/message-log';
import { RepliesRepository, type AnsweredMessage } from './replies.repository';

const ended = counter('inbox_replies_total', 'Replies to mail, by what became of them', ['outcome']);

/** Until a reply of an organization that is suspended is looked at again. */
const SUSPENDED_S = 60;
/** To one address within an hour; what is more is a loop, or no help. */
const MAX_AN_HOUR = 10;

/** What a turn or a run answers with. */
export interface Reply {
  /** Null where a run answers. */
  chat_id: string | null;
  /** The turn or the run. */
  source_id: string;
  /** Of a call of the tool; empty for a turn's last words. */
  call_key: string;
  text: string;
}

/** Mails the answers of agents and processes: each is armed in the transaction of what it says, and sent once, a while later. */
@Injectable()
export class RepliesService {
  constructor(
    private readonly db: Database,
    private readonly repository: RepliesRepository,
    private readonly outbox: Outbox,
    private readonly mailer: Mailer,
    private readonly log: MessageLog,
  ) {}

  /**
   * What a call of a tool answers a mail with.
   *
   * @returns when it goes out; why it does not, in a sentence, and whether another text would
   */
  async armByTool(
    tx: Tx,
    message: AnsweredMessage | null,
    reply: Reply,
  ): Promise<{ status: 'armed'; due_at: string } | { refused: string; mendable: boolean }> {
    if (!message) return { refused: 'There is no mail to answer: no mail has begun this.', mendable: false };
    if (message.settings.reply !== 'tool') return { refused: 'Its inbox does not let mails be answered by this tool.', mendable: false };
    if (message.terminated) return { refused: 'The mail was terminated.', mendable: false };
    const text = storable(reply.text).trim();
    if (text === '') return { refused: 'text: say something.', mendable: true };
    const armed = await this.arm(tx, message, { ...reply, text });
    if ('suppressed' in armed) return { refused: `The mail is not sent: ${armed.suppressed}.`, mendable: false };
    return { status: 'armed', due_at: armed.due_at.toISOString() };
  }

  /** The same call arms once. @returns when it goes out; why it does not */
  async arm(tx: Tx, message: AnsweredMessage, reply: Reply): Promise<{ due_at: Date } | { suppressed: string }> {
    const { id: message_id, org_id, inbox_id, settings } = message;
    const before = await this.repository.said(tx, reply);
    if (before) return before.reason === null ? before : { suppressed: before.reason };
    const reason = await this.reasonAgainst(tx, message);
    const id = uuidv7();
    const state = reason === null ? ('armed' as const) : ('suppressed' as const);
    const { chat_id, source_id, call_key, text: body_text } = reply;
    const row = {
      id,
      org_id,
      inbox_id,
      message_id,
      chat_id,
      source_id,
      call_key,
      to_address: message.reply_to ?? '',
      body_text,
      state,
      reason,
    };
    const due_at = await this.repository.insert(tx, row, settings.reply_delay_s ?? 0);
    if (reason !== null) {
      ended.inc({ outcome: 'suppressed' });
      await this.log.changed(tx, [message_id]);
      return { suppressed: reason };
    }
    if (due_at) {
      const wait = settings.reply_delay_s ? { notBefore: due_at } : {};
      await this.outbox.enqueue(tx, 'inbox.reply', { org_id, reply_id: id }, { id, ...wait });
      await this.log.changed(tx, [message_id]);
    }
    return { due_at: due_at ?? this.db.now() };
  }

  /**
   * Sends a reply that is armed, and removes its job; one that was sent or stood down is left alone.
   *
   * @throws PutOff while its organization is suspended
   */
  async send(id: string): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      const due = await this.repository.lockDue(tx, id);
      if (!due) return void (await this.outbox.cancel(tx, id));
      const from = due.recipient && { name: due.settings.from_name ?? null, address: due.recipient };
      // What was handed in without the address that it came to has none to be answered from.
      if (!from || due.org_deleted) return this.standDown(tx, due.message_id);
      if (due.org_suspended) throw new PutOff(SUSPENDED_S, 'The organization is suspended');
      const known = due.references.filter((ref) => ref !== due.message_ref && !isHash(ref)).reverse();
      const answers = { id: due.message_ref === null || isHash(due.message_ref) ? null : due.message_ref, references: known };
      const mail = await this.mailer.send(tx, { to: due.to_address, subject: subjectOf(due.subject), text: due.body_text, from, answers });
      await this.repository.sent(tx, id, messageIdOf({ id: mail, from }));
      await this.outbox.cancel(tx, id);
      await this.log.changed(tx, [due.message_id]);
      tx.afterCommit(() => ended.inc({ outcome: 'sent' }));
    });
  }

  /** What is armed for a message does not go out. */
  async standDown(tx: Tx, messageId: string): Promise<void> {
    for (const id of await this.repository.standDown(tx, messageId)) {
      await this.outbox.cancel(tx, id);
      ended.inc({ outcome: 'stood_down' });
    }
  }

  private async reasonAgainst(tx: Tx, message: AnsweredMessage): Promise<InboxReply['reason']> {
    const { reply_to, automatic, org_id } = message;
    if (automatic !== null) return 'auto_submitted';
    if (reply_to === null || !parseEmail(reply_to)) return 'no_sender';
    if (placeOf(reply_to)) return 'own_address';
    return (await this.repository.sentLately(tx, org_id, reply_to)) >= MAX_AN_HOUR ? 'too_many' : null;
  }
}

const subjectOf = (subject: string | null): string => (/^re:/i.test(subject ?? '') ? subject! : `Re: ${subject ?? ''}`.trim());
