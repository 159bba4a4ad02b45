import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { counter } from '@aps/platform/observability';
import { NOBODY_ASKED, type FromReader, type MailAuth, type MailEnvelope, type MailParts, type ToReader } from './mail.types';
import { MailResolver } from './mail-resolver';

const failed = counter('inbox_mail_readers_lost_total', 'Processes that read mail and were ended: out of time, or of memory', []);

/** What a mail says; `parts` is null where it could not be read. */
export interface ReadMail {
  parts: MailParts | null;
  auth: MailAuth;
}

/** Processes that read mail; each reads one at a time. */
const READERS = 2;
/** For a mail, and for who vouches for it after that. */
const PARSE_MS = 10_000;
const AUTH_MS = 5_000;
const MEMORY_MIB = 384;
const RECORDS = new Set(['TXT', 'A', 'AAAA', 'MX', 'PTR']);

const FILE = 'mail-reader.worker.js';
const REPOSITORY = path.resolve(__dirname, '../../../../../..');
/** Beside this file, in a build and in a bundle; specs run from the sources, whose build stands below dist. */
const ENTRY = [path.join(__dirname, FILE), path.join(REPOSITORY, 'dist', path.relative(REPOSITORY, __dirname), FILE)].find((file) =>
  existsSync(file),
);

/** Reads mails in processes of their own: what a hostile mail can do ends there. They have no settings and no secrets. */
@Injectable()
export class MailReader implements OnApplicationShutdown {
  /** Places that nobody reads at; one without a process starts it. */
  private readonly free: (ChildProcess | undefined)[] = Array.from({ length: READERS });
  private readonly waiting: ((reader: ChildProcess | undefined) => void)[] = [];
  private readonly running = new Set<ChildProcess>();

  constructor(private readonly resolver: MailResolver) {}

  async read(raw: Buffer, envelope: MailEnvelope): Promise<ReadMail> {
    let reader = this.free.length ? this.free.pop() : await new Promise<ChildProcess | undefined>((taken) => this.waiting.push(taken));
    try {
      reader = reader?.connected ? reader : this.start();
      return await this.exchange(reader, raw, envelope);
    } finally {
      const next = this.waiting.shift();
      if (next) next(reader);
      else this.free.push(reader);
    }
  }

  onApplicationShutdown(): void {
    for (const reader of this.running) reader.kill('SIGKILL');
  }

  private start(): ChildProcess {
    if (!ENTRY) throw new Error(`${FILE} is not built`);
    const reader = fork(ENTRY, [], {
      execArgv: [`--max-old-space-size=${MEMORY_MIB}`],
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.running.add(reader);
    return reader.on('error', () => undefined).once('exit', () => this.running.delete(reader));
  }

  private exchange(reader: ChildProcess, raw: Buffer, envelope: MailEnvelope): Promise<ReadMail> {
    return new Promise((resolve) => {
      let parts: MailParts | null = null;
      const end = (auth: MailAuth) => {
        clearTimeout(timer);
        reader.off('message', hear).off('exit', lose);
        resolve({ parts, auth });
      };
      const lose = () => {
        failed.inc();
        reader.kill('SIGKILL');
        if (reader.connected) reader.disconnect();
        end(NOBODY_ASKED);
      };
      const hear = (said: FromReader) => {
        if (said.type === 'resolve') return void this.ask(reader, said);
        if (said.type === 'auth') return end(said.auth);
        ({ parts } = said);
        clearTimeout(timer);
        timer = setTimeout(lose, AUTH_MS);
      };
      let timer = setTimeout(lose, PARSE_MS);
      reader.on('message', hear).once('exit', lose);
      tell(reader, { type: 'read', raw, envelope });
    });
  }

  private async ask(reader: ChildProcess, { id, name, rrtype }: FromReader & { type: 'resolve' }): Promise<void> {
    try {
      if (!RECORDS.has(rrtype)) throw Object.assign(new Error('No such records are looked for'), { code: 'ENODATA' });
      tell(reader, { type: 'records', id, records: await this.resolver.resolve(name, rrtype) });
    } catch (error) {
      tell(reader, { type: 'no_records', id, code: (error as { code?: string }).code ?? 'ESERVFAIL' });
    }
  }
}

/** One that is gone is noticed by its end. */
const tell = (reader: ChildProcess, message: ToReader): void => void (reader.connected && reader.send(message, () => undefined));
