import { buffer } from 'node:stream/consumers';
import { canonicalEmail } from '@aps/platform/email';
import { convert, type HtmlToTextOptions } from 'html-to-text';
import {
  MailParser,
  type AddressObject,
  type AttachmentStream,
  type HeaderLines,
  type Headers,
  type HeaderValue,
  type MessageText,
} from 'mailparser';
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

/** Pictures go, and links whose text says where they lead. */
const AS_TEXT: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 200, maxChildNodes: 50_000 },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
  ],
};

/** Has parts of text among the HTML that they stand beside, with their lines, where it has none itself. */
class Parser extends MailParser {
  override textToHtml(text: string): string {
    return `<pre>${text.slice(0, MAX_HTML_CHARS).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`;
  }
}

/**
 * Reads a mail. Takes any time and any memory over a hostile one, so it has a process of its own.
 *
 * @throws Error where it is none
 */
export async function parseMail(raw: Buffer, { mail_from }: MailEnvelope): Promise<MailParts> {
  // It makes no text of HTML, but says where text lacks what HTML says.
  const parser = new Parser({ maxHtmlLengthToParse: 0, checksumAlgo: false });
  const { body, files, left_out } = await bodyAndFiles(parser, raw);
  const headers = parser.headers || new Map<string, HeaderValue>();
  const lines = linesByName(parser.headerLines || []);
  const header = (name: string): string[] => lines.get(name) ?? [];
  return {
    subject: parser.subject ?? null,
    text: textOf(body).slice(0, MAX_TEXT_CHARS),
    from: addressesIn(parser.from),
    reply_to: addressesIn(parser.replyTo),
    to: [...addressesIn(parser.to), ...addressesIn(parser.cc)],
    message_id: idsIn(header('message-id'))[0] ?? bareId(header('message-id')[0]),
    references: [...new Set([...idsIn(header('in-reply-to')), ...idsIn(header('references')).reverse()])].slice(0, MAX_REFERENCES),
    headers: headersOf(lines, headers),
    automatic: automaticOf(header, mail_from),
    files,
    left_out,
  };
}

async function bodyAndFiles(parser: MailParser, raw: Buffer): Promise<Pick<MailParts, 'files' | 'left_out'> & { body: MessageText }> {
  const files: IncomingPart[] = [];
  let [body, left_out]: [MessageText, number] = [{ type: 'text' }, 0];
  parser.end(raw);
  for await (const part of parser as AsyncIterable<AttachmentStream | MessageText>) {
    if (part.type === 'text') body = part;
    else {
      const content = await buffer(part.content);
      part.release?.();
      if (files.length === MAX_FILES) left_out++;
      else files.push({ filename: part.filename || nameless(part, files.length + 1), content });
    }
  }
  return { body, files, left_out };
}

const nameless = ({ contentType }: AttachmentStream, no: number): string =>
  contentType === 'message/rfc822' ? 'message.eml' : `attachment-${no}`;

/** Of a mail that says the same as text and as HTML the text, unless that is blank. */
const textOf = ({ text = '', html = '', textConversionError }: MessageText): string =>
  html && (textConversionError || !text.trim()) ? asText(html) : text;

const asText = (html: string): string => convert(html.slice(0, MAX_HTML_CHARS), AS_TEXT);

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
function headersOf(lines: Map<string, string[]>, decoded: Headers): [string, string][] {
  const headers: [string, string][] = [];
  let left = MAX_HEADER_CHARS;
  for (const [name, values] of lines) {
    const value = (wordsOf(decoded.get(name)) ?? values.join(', ')).slice(0, left);
    left -= name.length + value.length;
    if (left < 0) break;
    headers.push([name, value]);
  }
  return headers;
}

function wordsOf(value: HeaderValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string') ? value.join(', ') : undefined;
  return typeof value === 'object' && 'text' in value && typeof value.text === 'string' ? value.text : undefined;
}

/** Message ids, without their brackets. */
const idsIn = (values: string[]): string[] => values.flatMap((value) => [...value.matchAll(/<([^<>\s]{1,998})>/g)].map(([, id]) => id));

/** One without brackets. What could be another mail's as well is none: of two of one id the second is not kept. */
const bareId = (value = ''): string | null => (/[^<>\s@]@[^<>\s@]/.test(value) ? value : null);

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
