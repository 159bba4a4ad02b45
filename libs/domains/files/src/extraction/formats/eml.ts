import { simpleParser, type AddressObject } from 'mailparser';
import type { FileHints } from '../extracted';
import { heading, literally } from '../markdown';
import type { Read } from './format';
import { htmlText } from './html';

/** A mail: its subject as heading, who wrote it to whom and when, and what it says. What is attached is not opened. */
export async function readEml(bytes: Buffer, { whole }: FileHints): Promise<Read> {
  const mail = await simpleParser(bytes, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true });
  const title = mail.subject?.trim() || null;
  const lines = [
    ['From', addressesOf(mail.from)],
    ['To', addressesOf(mail.to)],
    ['Cc', addressesOf(mail.cc)],
    ['Date', mail.date && !Number.isNaN(mail.date.getTime()) ? mail.date.toISOString() : ''],
  ].flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  const body = mail.text?.trim() ? literally(mail.text) : mail.html ? htmlText(mail.html, whole).text : '';
  const text = [title && heading(1, title), lines.join('\n'), body].filter(Boolean).join('\n\n');
  return { text: body.trim() || title ? text : '', title, media_type: 'message/rfc822' };
}

const addressesOf = (given: AddressObject | AddressObject[] | undefined): string =>
  [given ?? []]
    .flat()
    .map(({ text }) => text)
    .join(', ');
