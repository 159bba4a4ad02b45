import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import type { SendMailOptions, Transporter } from 'nodemailer';
import { mailConfig } from './mail.config';
import type { Mail } from './mailer';

/** A mail that is ready to go. */
export interface ReadyMail extends Mail {
  id: string;
}

/** A mail that was not taken. Carries codes only: what a mail server says names addresses, and errors end up in logs. */
export class MailError extends Error {
  constructor(
    readonly code: string,
    /** The server will never take it. */
    readonly permanent: boolean,
    /** The server has answered to this mail, and may take others. */
    readonly isOfMail = permanent,
  ) {
    super(`The mail was not taken: ${code}`);
    this.name = 'MailError';
  }
}

/** A server that answers each command just in time could take minutes. */
export const DELIVERY_MS = 50_000;

/** The library is loaded with the first mail: most processes never send one. */
const library = () => import('nodemailer');

/** Brings mail to the SMTP server, or into the mail folder where there is none. */
@Injectable()
export class MailTransport implements OnApplicationShutdown {
  private smtp?: Promise<Transporter>;
  private composer?: Promise<Transporter>;

  /** @throws MailError */
  async deliver(mail: ReadyMail): Promise<void> {
    const { smtpUrl } = mailConfig.value;
    await (smtpUrl ? this.toServer(smtpUrl, mail) : this.toFolder(mail));
  }

  async onApplicationShutdown(): Promise<void> {
    (await this.smtp)?.close();
  }

  private async toServer(url: string, mail: ReadyMail): Promise<void> {
    this.smtp ??= library().then(({ createTransport }) =>
      createTransport({
        url,
        pool: true,
        maxConnections: 4,
        connectionTimeout: 10_000,
        greetingTimeout: 10_000,
        socketTimeout: 20_000,
        dnsTimeout: 5_000,
      }),
    );
    try {
      await (await this.smtp).sendMail({ ...message(mail), signal: AbortSignal.timeout(DELIVERY_MS) });
    } catch (error) {
      const { code, responseCode } = error as { code?: string; responseCode?: number };
      // 421: it takes no mails at all now, whichever it was that it said so to.
      const isOfMail = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined && responseCode !== 421;
      throw new MailError([code ?? 'UNKNOWN', responseCode].filter(Boolean).join(' '), isOfMail && responseCode >= 500, isOfMail);
    }
  }

  private async toFolder(mail: ReadyMail): Promise<void> {
    this.composer ??= library().then(({ createTransport }) => createTransport({ streamTransport: true, buffer: true, newline: 'unix' }));
    const { dir } = mailConfig.value;
    try {
      const { message: eml } = (await (await this.composer).sendMail(message(mail))) as unknown as { message: Buffer };
      await mkdir(dir, { recursive: true });
      // Written beside and then moved: who watches the folder never reads half a mail. A repeat replaces the same file.
      const beside = path.join(dir, `.${randomUUID()}.tmp`);
      await writeFile(beside, eml, { mode: 0o600 });
      await rename(beside, path.join(dir, `${mail.id}.eml`));
    } catch (error) {
      throw new MailError((error as { code?: string }).code ?? 'UNKNOWN', false);
    }
  }
}

/**
 * A text for a header: one line, without what is not seen, and without the beginning of an encoded word (RFC 2047). The library leaves
 * ASCII as it is, and a mail program would show what the word decodes to.
 */
const headerText = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('=?', '= ?');

/** The Message-ID of a mail, without its brackets. */
export function messageIdOf({ id, from }: Pick<ReadyMail, 'id' | 'from'>): string {
  const domain = /@([^<>@\s]+?)>?$/.exec(from?.address ?? mailConfig.value.from)?.[1] ?? 'localhost';
  return `${id}@${domain}`;
}

/** As mails have it that waited while this was deployed: the ids alone, nearest last. */
const answersOf = (answers: Mail['answers'] | string[]): Mail['answers'] =>
  !Array.isArray(answers) ? answers : answers.length ? { id: answers.at(-1)!, references: answers.slice(0, -1) } : undefined;

function message(mail: ReadyMail): SendMailOptions {
  const answers = answersOf(mail.answers);
  const thread = answers ? [...answers.references, answers.id].filter((id) => id !== null) : [];
  return {
    from: mail.from ? { name: headerText(mail.from.name ?? ''), address: mail.from.address } : mailConfig.value.from,
    // As an object it is one address, whatever commas it has in it.
    to: { name: '', address: mail.to },
    subject: headerText(mail.subject),
    text: mail.text,
    html: mail.html,
    // A repeat carries the same id, by which a mailbox tells that it has the mail already.
    messageId: `<${messageIdOf(mail)}>`,
    ...(answers?.id && { inReplyTo: `<${answers.id}>` }),
    ...(thread.length && { references: thread.map((id) => `<${id}>`) }),
    // No machine answers to either.
    headers: { 'Auto-Submitted': answers ? 'auto-replied' : 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
