import { Injectable } from '@nestjs/common';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import type { Tx } from '@aps/platform/database';
import { parseEmail } from '@aps/platform/email';
import { Outbox } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { INSERT } from './mail.sql';

export interface Mail {
  /** One address, without a display name. */
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** Default: the sender of every mail. */
  from?: { name: string | null; address: string };
  /** What it answers by itself, by Message-IDs without their brackets: the mail, null where it has none, and those that this refers to, nearest last. */
  answers?: { id: string | null; references: string[] };
}

/** What the body column holds, encrypted. */
export type MailBody = Omit<Mail, 'to' | 'subject'>;

/** Where a mail's body is encrypted. Of the platform: a mail goes to a person, who need not belong to any organization. */
export const bodyPlace = (id: string) => ({ orgId: null, table: 'outbound_mails', column: 'body', rowId: id });

/** Sends mail with a transaction: it leaves when that commits, and never when it does not. */
@Injectable()
export class Mailer {
  constructor(
    private readonly crypto: EnvelopeCrypto,
    private readonly outbox: Outbox,
  ) {}

  /**
   * @returns id of the mail
   * @throws Error when `to` is not one plain address; whoever takes addresses in has to check them
   */
  async send(tx: Tx, mail: Mail, options: { requestId?: string } = {}): Promise<string> {
    const to = parseEmail(mail.to);
    if (!to) throw new Error('A mail goes to one plain address.');
    const id = uuidv7();
    const { to: _to, subject, ...body } = mail;
    await tx.execute(INSERT, [id, to.mailbox, subject, await this.crypto.encrypt(tx, bodyPlace(id), JSON.stringify(body))]);
    await this.outbox.enqueue(tx, 'mail.send', { mail_id: id }, { id, requestId: options.requestId });
    return id;
  }
}
