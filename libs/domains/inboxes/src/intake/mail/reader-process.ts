import { AwakeTimer, ParserChild } from '@aps/platform/children';
import { counter } from '@aps/platform/observability';
import type { FromReader, MailAuth, MailEnvelope, MailParts, ToReader, Vouching } from './mail.types';
import type { MailResolver } from './mail-resolver';

const failed = counter('inbox_mail_readers_lost_total', 'Processes that read mail and were ended: out of time, or of memory', []);

const PARSE_MS = 10_000;
/** For who vouches for a mail after that, while nothing is asked of the DNS. */
const AUTH_MS = 5_000;
/**
 * What SPF, DKIM and DMARC may each ask about a mail, and for how long all in all: what its sender makes one of them ask, or never answers,
 * is not taken from another.
 */
const MAX_QUESTIONS = 20;
const ANSWERS_MS = 4_000;
const HEAP_MIB = 384;
/** Of all that one has, buffers too; k8s/base has the memory for it. */
const MEMORY_MIB = 512;
/** What may be in a process at once, waiting for the DNS: buffers are no part of the heap. */
const MAX_MAILS = 100;
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * What is said of questions that a sender can keep from being answered, whoever he writes that he is: names that are none, the name of his own
 * address, and all that comes when other questions have used up what there is. Else his mail was one that its domain could not be asked about.
 */
const NO_RECORDS = 'ENODATA';
const RECORDS = new Set(['TXT', 'A', 'AAAA', 'MX', 'PTR']);

/** What comes of a mail in a process; undefined where the process has ended before. */
export interface MailInProcess {
  parts: Promise<MailParts | null | undefined>;
  auth: Promise<MailAuth | undefined>;
}

interface Held {
  bytes: number;
  /** Asked of the DNS, and not answered. */
  questions: number;
  left: Record<Vouching, { questions: number; ms: number }>;
  /** What is left for who vouches for it, and what ends its process when its time is over. */
  authMs: number;
  timer?: AwakeTimer;
  isParsed: (parts: MailParts | null | undefined) => void;
  isVouchedFor: (auth: MailAuth | undefined) => void;
}

/** A process that parses one mail at a time, while others that it has parsed wait in it for the DNS. */
export class ReaderProcess {
  private readonly child: ParserChild<ToReader, FromReader>;
  private readonly mails = new Map<number, Held>();
  private lastMail = 0;
  private bytes = 0;
  private roomWanted?: () => void;

  constructor(private readonly resolver: MailResolver) {
    this.child = new ParserChild({
      ...{ directory: __dirname, file: 'mail-reader.worker.js', heapMib: HEAP_MIB, residentMib: MEMORY_MIB },
      ...{ heard: (said: FromReader) => this.hear(said), ended: () => this.end() },
    });
  }

  get isRunning(): boolean {
    return this.child.isRunning;
  }

  get isEmpty(): boolean {
    return this.mails.size === 0;
  }

  /** Parses a mail, and asks who vouches for it. */
  read(raw: Buffer, envelope: MailEnvelope): MailInProcess {
    const { mail, held, coming } = this.take(raw);
    this.child.tell({ type: 'read', mail, raw, envelope });
    this.whenListening(mail, () => (held.timer = new AwakeTimer(PARSE_MS, () => this.end())));
    return coming;
  }

  /** Asks who vouches for a mail that has been parsed elsewhere. */
  authenticate(raw: Buffer, envelope: MailEnvelope, from: string | null): MailInProcess['auth'] {
    const { mail, held, coming } = this.take(raw);
    this.child.tell({ type: 'authenticate', mail, raw, envelope, from });
    this.whenListening(mail, () => this.awaitAuth(held));
    return coming.auth;
  }

  /** Waits until another mail may come. */
  async room(): Promise<void> {
    while (this.mails.size >= MAX_MAILS || this.bytes >= MAX_BYTES) await new Promise<void>((found) => (this.roomWanted = found));
  }

  /** Ends it, with what is in it. */
  end(): void {
    if (this.mails.size) failed.inc();
    this.child.end();
    for (const [mail, held] of this.mails) this.letGo(mail, held, undefined);
  }

  private take(raw: Buffer): { mail: number; held: Held; coming: MailInProcess } {
    const left = () => ({ questions: MAX_QUESTIONS, ms: ANSWERS_MS });
    const held = { bytes: raw.length, questions: 0, authMs: AUTH_MS, left: { spf: left(), dkim: left(), dmarc: left() } } as Held;
    const coming: MailInProcess = {
      parts: new Promise((resolve) => (held.isParsed = resolve)),
      auth: new Promise((resolve) => (held.isVouchedFor = resolve)),
    };
    const mail = ++this.lastMail;
    this.mails.set(mail, held);
    this.bytes += held.bytes;
    return { mail, held, coming };
  }

  /** The time of a mail is none that its process takes for loading its code. */
  private whenListening(mail: number, begins: () => void): void {
    void this.child.listening.then(() => this.mails.has(mail) && begins());
  }

  private letGo(mail: number, held: Held, auth: MailAuth | undefined): void {
    held.timer?.stop();
    this.mails.delete(mail);
    this.bytes -= held.bytes;
    held.isParsed(undefined);
    held.isVouchedFor(auth);
    this.roomWanted?.();
  }

  private hear(said: FromReader): void {
    const held = this.mails.get(said.mail);
    if (said.type === 'resolve') return void this.ask(held, said);
    if (!held) return;
    if (said.type === 'auth') return this.letGo(said.mail, held, said.auth);
    held.timer?.stop();
    held.isParsed(said.parts);
    this.awaitAuth(held);
  }

  /** Until it asks something of the DNS, which is given up in time. */
  private awaitAuth(held: Held): void {
    held.timer = new AwakeTimer(held.authMs, () => this.end());
  }

  private pauseAuth(held: Held): void {
    held.authMs = held.timer?.stop() ?? held.authMs;
  }

  private async ask(held: Held | undefined, { mail, id, by, name, rrtype }: FromReader & { type: 'resolve' }): Promise<void> {
    const left = held?.left[by];
    if (!held || !left || left.ms <= 0 || --left.questions < 0) return this.child.tell({ type: 'no_records', id, code: NO_RECORDS });
    if (held.questions++ === 0) this.pauseAuth(held);
    const began = performance.now();
    const hasTime = left.ms > ANSWERS_MS / 2;
    try {
      if (!RECORDS.has(rrtype)) throw Object.assign(new Error('No such records are looked for'), { code: NO_RECORDS });
      this.child.tell({ type: 'records', id, records: await inTime(left.ms, this.resolver.resolve(name, rrtype)) });
    } catch (error) {
      const { code = 'ESERVFAIL' } = error as { code?: string };
      const isOfSender = code === 'EBADNAME' || rrtype === 'PTR' || (code === 'ETIMEOUT' && !hasTime);
      this.child.tell({ type: 'no_records', id, code: isOfSender ? NO_RECORDS : code });
    }
    left.ms -= performance.now() - began;
    if (--held.questions === 0 && this.mails.has(mail)) this.awaitAuth(held);
  }
}

async function inTime<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer!: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('There is no answer in time'), { code: 'ETIMEOUT' })), ms).unref();
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
