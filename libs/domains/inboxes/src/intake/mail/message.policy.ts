import { safeFilename } from '@aps/files';
import { canonicalEmail } from '@aps/platform/email';
import type { IncomingMessage } from '../intake.port';
import { cutText, keptHeaders, keyOf, lineOf, sha256Key } from '../text.policy';
import type { ReadMail } from './mail-reader';
import type { MailAddress, MailEnvelope, MailParts } from './mail.types';

/** A mail as a message, whoever it is for. One that cannot be read is its own attachment. */
export function messageOf({ parts, auth }: ReadMail, raw: Buffer, envelope: MailEnvelope): IncomingMessage {
  const sentBy = canonicalEmail(envelope.mail_from ?? '');
  const mail = parts ?? unreadable(raw, envelope);
  const sender = mail.from[0] ?? (sentBy === null ? null : { address: sentBy, name: null });
  const leftOut = mail.left_out ? `\n\n[${mail.left_out} more attachments were left out.]` : '';
  return {
    sender: sender && { address: sender.address, name: lineOf(sender.name) },
    subject: lineOf(mail.subject),
    body_text: cutText(mail.text.replace(/\r\n?/g, '\n').trim() + leftOut),
    headers: keptHeaders(withReturnPath(mail.headers, envelope)),
    payload: null,
    auth,
    size_bytes: raw.length,
    message_id: keyOf(mail.message_id),
    references: mail.references.map((id) => keyOf(id)!),
    participants: [...new Set([...mail.from, ...mail.to].map(({ address }) => address))],
    dedupe_key: keyOf(mail.message_id) ?? sha256Key(raw),
    automatic: mail.automatic,
    reply_to: (mail.reply_to[0] ?? mail.from[0] ?? null)?.address ?? null,
    files: mail.files.map(({ filename, content }) => ({ filename: safeFilename(filename), content })),
  };
}

/** The reverse-path where RFC 5321 has who takes a mail in write it; what a sender writes there is no matter. */
const withReturnPath = (headers: MailParts['headers'], { mail_from }: MailEnvelope): MailParts['headers'] =>
  mail_from === null ? headers : [...headers.filter(([name]) => name !== 'return-path'), ['return-path', mail_from || '<>']];

function unreadable(raw: Buffer, { mail_from }: MailEnvelope): MailParts {
  const nobody: MailAddress[] = [];
  return {
    ...{ subject: null, from: nobody, reply_to: nobody, to: nobody, message_id: null, references: [], headers: [], left_out: 0 },
    text: '[This mail could not be read. It is attached as message.eml.]',
    automatic: mail_from === '' ? 'null-sender' : null,
    files: [{ filename: 'message.eml', content: raw }],
  };
}
