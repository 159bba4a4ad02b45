import { canonicalEmail } from '@aps/platform/email';
import { convert, type HtmlToTextOptions } from 'html-to-text';
import { simpleParser, type AddressObject, type HeaderLines, type ParsedMail } from 'mailparser';
import type { IncomingPart } from '../intake.port';
import { automaticOf } from './automatic.policy';
import type { MailAddress, MailEnvelope, MailParts } from './mail.types';

/** Attachments that are kept. Gates hold mails with fewer. */
const MAX_FILES = 200;
const MAX_ADDRESSES = 500;
const MAX_REFERENCES = 100;
/** Of all headers together. */
const MAX_HEADER_CHARS = 200_000;
/** Of the text, which is cut to what is kept where it is made a message. */
const MAX_TEXT_CHARS = 200_000;
/** Of a text in HTML, which has nothing to say behind that. */
const MAX_HTML_CHARS = 400_000;

type HeaderValue = ParsedMail['headers'] extends Map<string, infer V> ? V : never;

/** Links and pictures go: of a mail as text, their addresses are most of it. */
const AS_TEXT: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 200, maxChildNodes: 50_000 },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
  ],
};

/**
 * Reads a mail. Takes any time and any memory over a hostile one, so it has a process of its own.
 *
 * @throws Error where it is none
 */
export async function parseMail(raw: Buffer, { mail_from }: MailEnvelope): Promise<MailParts> {
  const mail = await simpleParser(raw, {
    ...{ skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true, keepCidLinks: true },
    checksumAlgo: false,
  } as Parameters<typeof simpleParser>[1]);
  const lines = linesByName(mail.headerLines);
  const header = (name: string): string[] => lines.get(name) ?? [];
  const attachments = mail.attachments.slice(0, MAX_FILES);
  return {
    subject: mail.subject ?? null,
    text: (mail.text || asText(mail.html || '')).slice(0, MAX_TEXT_CHARS),
    from: addressesIn(mail.from),
    reply_to: addressesIn(mail.replyTo),
    to: [...addressesIn(mail.to), ...addressesIn(mail.cc)],
    message_id: idsIn(header('message-id'))[0] ?? (header('message-id')[0] || null),
    references: [...new Set([...idsIn(header('in-reply-to')), ...idsIn(header('references')).reverse()])].slice(0, MAX_REFERENCES),
    headers: headersOf(lines, mail.headers),
    automatic: automaticOf(header, mail_from),
    files: attachments.map(({ filename, contentType, content }, i): IncomingPart => ({
      filename: filename || (contentType === 'message/rfc822' ? 'message.eml' : `attachment-${i + 1}`),
      media_type: contentType.toLowerCase(),
      content,
    })),
    left_out: mail.attachments.length - attachments.length,
  };
}

const asText = (html: string): string => (html ? convert(html.slice(0, MAX_HTML_CHARS), AS_TEXT) : '');

/** What stands behind the names, unfolded. */
function linesByName(headerLines: HeaderLines): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { key, line } of headerLines) {
    const value = line.slice(line.indexOf(':') + 1).replace(/\r?\n/g, '');
    const known = lines.get(key);
    if (known) known.push(value.trim());
    else lines.set(key, [value.trim()]);
  }
  return lines;
}

/** Decoded where the parser has decoded them to a text. */
function headersOf(lines: Map<string, string[]>, decoded: ParsedMail['headers']): [string, string][] {
  const headers: [string, string][] = [];
  let left = MAX_HEADER_CHARS;
  for (const [name, values] of lines) {
    const value = (textOf(decoded.get(name)) ?? values.join(', ')).slice(0, left);
    left -= name.length + value.length;
    if (left < 0) break;
    headers.push([name, value]);
  }
  return headers;
}

function textOf(value: HeaderValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string') ? value.join(', ') : undefined;
  return typeof value === 'object' && 'text' in value && typeof value.text === 'string' ? value.text : undefined;
}

/** Message ids, without their brackets. */
const idsIn = (values: string[]): string[] => values.flatMap((value) => [...value.matchAll(/<([^<>\s]{1,998})>/g)].map(([, id]) => id));

/** Those that mail can go to, groups among them by their members. */
function addressesIn(given: AddressObject | AddressObject[] | undefined): MailAddress[] {
  const found: MailAddress[] = [];
  const waiting = [given ?? []].flat().flatMap(({ value }) => value);
  for (let i = 0; i < waiting.length && found.length < MAX_ADDRESSES; i++) {
    const { address: written, name, group } = waiting[i];
    if (group) waiting.push(...group);
    const address = canonicalEmail(written ?? '');
    if (address !== null) found.push({ address, name: name || null });
  }
  return found;
}
