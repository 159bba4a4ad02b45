import type { MessageFacts } from './message-facts';
import { HEADERS, PAYLOAD, type Scalar } from './rule-set.schema';

/** So much of what a field holds is searched by `contains` and `matches`: what a chat takes of a text, too. */
export const SEARCHED_CHARACTERS = 100_000;
export const MAX_ELEMENTS = 1_000;

/** Digits of which a double keeps most; longer texts are no numbers. */
const MAX_NUMBER = 40;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** What a field of one message holds, in each form that an op may want it in. Each is made once, when it is first asked for. */
export class FieldValue {
  private folded?: string[];
  private foldedParts?: string[];
  private plainParts?: string[];
  private counted?: number[];

  constructor(
    readonly all: readonly Scalar[],
    /** Whether the message has it: a list of a payload may be there and empty. */
    readonly present = all.length > 0,
  ) {}

  /** Texts without case. */
  get lower(): readonly string[] {
    return (this.folded ??= this.all.map((value) => String(value).toLowerCase()));
  }

  /** The same, no more of it than is searched. */
  get searchedLower(): readonly string[] {
    return (this.foldedParts ??= beginnings(this.lower));
  }

  /** Texts as they are, no more of them than is searched. */
  get searched(): readonly string[] {
    return (this.plainParts ??= beginnings(this.all.map(String)));
  }

  /** Numbers, and texts that are written as one. */
  get numbers(): readonly number[] {
    return (this.counted ??= this.all.map(numberOf).filter((number) => !Number.isNaN(number)));
  }
}

function beginnings(texts: readonly string[]): string[] {
  let left = SEARCHED_CHARACTERS;
  return texts.map((text) => {
    const part = text.length > left ? text.slice(0, left) : text;
    left -= part.length;
    return part;
  });
}

function numberOf(value: Scalar): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.length <= MAX_NUMBER && NUMBER.test(value) ? Number(value) : NaN;
}

/** Reads a field of a message and the tags that it has by now. */
export type FieldReader = (facts: MessageFacts, tags: readonly string[]) => FieldValue;

const NO_VALUE = new FieldValue([]);

const one = (value: string | number | null | undefined): FieldValue =>
  value === null || value === undefined || value === '' ? NO_VALUE : new FieldValue([value]);
const several = (values: readonly string[]): FieldValue => new FieldValue(values.slice(0, MAX_ELEMENTS));

const READERS = new Map<string, FieldReader>([
  ['channel', ({ channel }) => one(channel)],
  ['sender.address', ({ sender }) => one(sender?.address)],
  ['sender.domain', ({ sender }) => one(sender && domainOf(sender.address))],
  ['sender.name', ({ sender }) => one(sender?.name)],
  ['recipient', ({ recipient }) => one(recipient)],
  ['subject', ({ subject }) => one(subject)],
  ['body.text', ({ body_text }) => one(body_text)],
  ['attachments.count', ({ attachments }) => one(attachments.length)],
  ['attachments.types', ({ attachments }) => several(attachments.map(({ media_type }) => media_type))],
  ['attachments.names', ({ attachments }) => several(attachments.map(({ filename }) => filename))],
  ['auth.spf', ({ auth }) => one(auth?.spf)],
  ['auth.dkim', ({ auth }) => one(auth?.dkim)],
  ['auth.dmarc', ({ auth }) => one(auth?.dmarc)],
  ['size_bytes', ({ size_bytes }) => one(size_bytes)],
  ['tags', (_, tags) => several(tags)],
]);

/** How a field that a rule names is read: its name is looked at once, not for every message. */
export function readerOf(field: string): FieldReader {
  const reader = READERS.get(field);
  if (reader) return reader;
  if (field.startsWith(HEADERS)) return headerReader(field.slice(HEADERS.length).toLowerCase());
  return payloadReader(field.slice(PAYLOAD.length).split('.'));
}

const headerReader =
  (name: string): FieldReader =>
  ({ headers }) =>
    Object.hasOwn(headers, name) ? new FieldValue([headers[name]]) : NO_VALUE;

function payloadReader(path: readonly string[]): FieldReader {
  return ({ payload }) => {
    const found = path.reduce(childOf, payload);
    if (found === null || found === undefined) return NO_VALUE;
    return new FieldValue((Array.isArray(found) ? found.slice(0, MAX_ELEMENTS) : [found]).filter(isScalar), true);
  };
}

/** Own keys of objects, and elements of lists by their index; nothing else has any. */
function childOf(parent: unknown, key: string): unknown {
  if (typeof parent !== 'object' || parent === null) return undefined;
  if (Array.isArray(parent)) return /^\d{1,9}$/.test(key) ? (parent[Number(key)] as unknown) : undefined;
  return Object.hasOwn(parent, key) ? (parent as Record<string, unknown>)[key] : undefined;
}

const isScalar = (value: unknown): value is Scalar => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** What stands behind the last `@` of an address; null where nothing does. */
function domainOf(address: string): string | null {
  const at = address.lastIndexOf('@');
  return at < 0 ? null : address.slice(at + 1);
}

/** One message as the conditions of a rule set see it; their fields are numbered, so that each is read once. */
export class MessageView {
  private readonly values: (FieldValue | undefined)[] = [];

  constructor(
    private readonly facts: MessageFacts,
    private readonly readers: readonly FieldReader[],
    public tags: readonly string[],
  ) {}

  at(index: number): FieldValue {
    return (this.values[index] ??= this.readers[index](this.facts, this.tags));
  }

  /** The tags from now on, which stand at the given place, where rules ask for them. */
  retag(tags: readonly string[], index: number | undefined): void {
    this.tags = tags;
    if (index !== undefined) this.values[index] = undefined;
  }
}
