import { readFile } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ConfigError } from '@aps/platform/config';
import { counter } from '@aps/platform/observability';
import { callerOf } from '@aps/platform/rate-limit';
import { runtimeConfig } from '@aps/platform/runtime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { inboundConfig } from '../../channels/inbound.config';
import { intakeConfig, MAX_CLIENTS } from '../../intake.config';
import type { Channel } from '../intake.port';
import { countRefusal, FAILED } from '../refusals';
import { MailDoor, MAX_MAIL_BYTES, MAX_RECIPIENTS } from './mail-door';

const outcomes = counter('inbox_smtp_mails_total', 'Mails that came by SMTP, by what was answered', ['outcome']);

/** Bytes of mails that are being taken in; who comes with more is asked to come again. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Of one address: whoever fills that leaves the others theirs. More where it may have more of the connections, as where all come from one. */
const ofCaller = (): number => MAX_HELD_BYTES * Math.max(1 / 4, intakeConfig.value.smtpPerAddress / MAX_CLIENTS);
const IDLE_MS = 60_000;
/** Until a recipient is accepted: who wants nothing of us takes nobody's place for longer. */
const FIRST_RECIPIENT_MS = 20_000;
/** Of a connection, whatever it does: 25 MiB over a slow line, and more. */
const CONNECTION_MS = 15 * 60_000;
/** How often the certificate is read again: it is renewed weeks before its end, and nobody starts a process anew for it. */
const RENEWED_MS = 3_600_000;
/** What is left of the grace for everything that ends after this. */
const AFTER_MS = 3_000;

/** Why a mail or a recipient is not taken: answers that are no 250, by what they are counted as. */
const ANSWERS = { unknown_recipient: 550, payload_too_large: 552, too_much_at_once: 452, too_much_of_address: 452, broken_off: 451 };
type Reason = keyof typeof ANSWERS;
interface Refusal extends Error {
  responseCode?: number;
  reason?: Reason;
}
const refusal = (reason: Reason, message: string): Refusal => Object.assign(new Error(message), { responseCode: ANSWERS[reason], reason });
const LATER: Refusal = Object.assign(new Error('Cannot take it now, try again later'), { responseCode: 451 });

/** The connection ends with it. */
const FULL: Refusal = Object.assign(new Error('Too many connections, try again later'), { responseCode: 421 });

/** Takes mail in by SMTP: for addresses of inboxes, from anybody, and for nobody else. */
@Injectable()
export class SmtpListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Smtp');
  /** Of envelopes, the channels that their recipients are of, by address; a session has another for each mail. */
  private readonly accepted = new WeakMap<SMTPServerSession['envelope'], Map<string, Channel>>();
  /** Connections, by the session's id: whose they are, and what ends those that have named no recipient of ours. */
  private readonly clients = new Map<string, { caller: string; timer: NodeJS.Timeout }>();
  private readonly firstRecipientMs = FIRST_RECIPIENT_MS;
  /** Those that a mail is coming by, or being stored. */
  private readonly busy = new Set<string>();
  private heldBytes = 0;
  /** Of those, by whose they are. */
  private readonly heldOf = new Map<string, number>();
  private ending = false;
  private renewing?: NodeJS.Timeout;
  private server?: SMTPServer;

  constructor(private readonly door: MailDoor) {}

  get port(): number {
    return (this.server?.server.address() as AddressInfo).port;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { smtpHost, smtpPort, smtpCertificate, smtpKey } = intakeConfig.value;
    if (!smtpCertificate !== !smtpKey) throw new ConfigError(['SMTP_TLS_CERT_FILE: set it together with SMTP_TLS_KEY_FILE, or neither']);
    const pair = await this.certificate();
    const server = new SMTPServer({
      ...{
        name: inboundConfig.value.emailDomain,
        banner: 'ESMTP',
        size: MAX_MAIL_BYTES,
        maxRecipients: MAX_RECIPIENTS,
      },
      ...{
        authOptional: true,
        disabledCommands: ['AUTH', 'WIZ', 'SHELL', 'KILL', ...(pair ? [] : ['STARTTLS'])],
        ...pair,
      },
      ...{ disableReverseLookup: true, logger: false, socketTimeout: IDLE_MS },
      closeTimeout: Math.max(0, runtimeConfig.value.shutdownGraceMs - AFTER_MS),
      onConnect: (session, done) => done(this.admit(session)),
      onClose: (session) => this.forget(session),
      onRcptTo: ({ address }, session, done) => this.answer(done, session, this.accept(address, session)),
      onData: (stream, session, done) => this.answer(done, session, this.take(stream, session)),
    });
    // Of single connections; the listener itself fails below.
    server.on('error', (error) => this.logger.debug(error.message));
    server.server.on('connection', limitTime);
    await new Promise<void>((resolve, reject) => {
      server.server.once('error', reject);
      server.listen(smtpPort, smtpHost, resolve);
    });
    this.server = server;
    if (pair) this.renewing = setInterval(() => void this.renewCertificate(), RENEWED_MS).unref();
    this.logger.log(`Listening on ${smtpHost}:${this.port}`);
  }

  /** Lets mails come to their end, and nobody begin one. */
  async beforeApplicationShutdown(): Promise<void> {
    this.ending = true;
    clearInterval(this.renewing);
    // A start that has failed ends here as well.
    if (!this.server) return;
    const { server } = this;
    const closed = new Promise<void>((resolve) => server.close(resolve));
    for (const { session } of server.connections) this.dismiss(session);
    await closed;
  }

  /** Null where there is none. @throws Error where the two files do not belong together */
  private async certificate(): Promise<{ cert: string; key: string } | null> {
    const { smtpCertificate, smtpKey } = intakeConfig.value;
    if (!smtpCertificate || !smtpKey) return null;
    const [cert, key] = await Promise.all([smtpCertificate, smtpKey].map((path) => readFile(path, 'utf8')));
    createSecureContext({ cert, key });
    return { cert, key };
  }

  /** Shows from now on what stands in the files. Whoever renews them may write one after the other: until both belong together the old ones stay. */
  private async renewCertificate(): Promise<void> {
    try {
      const pair = await this.certificate();
      if (pair) this.server?.updateSecureContext(pair);
    } catch (error) {
      this.logger.warn({ msg: 'The certificate could not be read again', error: (error as Error).message });
    }
  }

  private admit(session: SMTPServerSession): Refusal | null {
    const caller = callerOf(session.remoteAddress);
    const ofCaller = [...this.clients.values()].filter((client) => client.caller === caller).length;
    const isFull = this.clients.size >= MAX_CLIENTS;
    if (isFull || ofCaller >= intakeConfig.value.smtpPerAddress) {
      countRefusal('smtp', isFull ? 'too_much_at_once' : 'too_many_of_address');
      return FULL;
    }
    const timer = setTimeout(() => this.dismiss(session, 'No recipient in time'), this.firstRecipientMs).unref();
    this.clients.set(session.id, { caller, timer });
    return null;
  }

  private forget({ id }: SMTPServerSession): void {
    clearTimeout(this.clients.get(id)?.timer);
    this.clients.delete(id);
  }

  private answer<T>(done: (error: Error | null, said?: T) => void, session: SMTPServerSession, work: Promise<T>): void {
    work.then(
      (said) => done(null, said),
      (error: Refusal) => {
        if (!error.responseCode) this.logger.error({ msg: 'Could not take a mail in', session_id: session.id, error: error.stack });
        countRefusal('smtp', error.reason ?? FAILED);
        done(error.responseCode ? error : LATER);
      },
    );
  }

  private async accept(address: string, session: SMTPServerSession): Promise<void> {
    const channel = await this.door.channelFor(address);
    if (!channel) throw refusal('unknown_recipient', 'No such recipient here');
    clearTimeout(this.clients.get(session.id)?.timer);
    const channels = this.accepted.get(session.envelope) ?? new Map<string, Channel>();
    this.accepted.set(session.envelope, channels.set(address, channel));
  }

  /** @returns what the 250 says */
  private async take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const channels = this.accepted.get(session.envelope);
    const { mailFrom, rcptTo } = session.envelope;
    const to = rcptTo.flatMap(({ address }) => channels?.get(address) ?? []);
    this.busy.add(session.id);
    const caller = callerOf(session.remoteAddress);
    const began = performance.now();
    const told = { outcome: 'failed', bytes: 0, message_ids: [] as string[] };
    try {
      const raw = await this.read(stream, caller);
      told.bytes = raw.length;
      try {
        const client = { ip: session.remoteAddress, helo: session.hostNameAppearsAs || session.remoteAddress };
        const taken = await this.door.receive(raw, { mail_from: mailFrom ? mailFrom.address : '', client }, to);
        told.outcome = 'taken';
        told.message_ids = taken.map(({ message_id }) => message_id);
        return `Taken as ${told.message_ids.join(' ')}`;
      } finally {
        this.hold(caller, -raw.length);
      }
    } finally {
      outcomes.inc({ outcome: told.outcome });
      // As in the log of requests, neither who a mail is from nor what it says.
      this.logger.log({ msg: 'mail', session_id: session.id, ...told, ms: Math.round(performance.now() - began) });
      this.busy.delete(session.id);
      // The answer goes first.
      if (this.ending) setImmediate(() => this.dismiss(session));
    }
  }

  /** All that comes, to its end: before that nobody listens to an answer. What is held is counted until its mail is stored. */
  private async read(stream: SMTPServerDataStream, caller: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    let full: Reason | null = null;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (full || stream.sizeExceeded) continue;
        if (this.heldBytes + chunk.length > MAX_HELD_BYTES) full = 'too_much_at_once';
        else if ((this.heldOf.get(caller) ?? 0) + chunk.length > ofCaller()) full = 'too_much_of_address';
        if (full) continue;
        chunks.push(chunk);
        size += chunk.length;
        this.hold(caller, chunk.length);
      }
      if (stream.sizeExceeded) throw refusal('payload_too_large', `A mail may have ${MAX_MAIL_BYTES} bytes`);
      if (full) throw refusal(full, 'Too much mail at once, try again later');
      return Buffer.concat(chunks);
    } catch (error) {
      this.hold(caller, -size);
      // What is no answer of ours: who sent it has gone.
      throw 'responseCode' in (error as Error) ? error : refusal('broken_off', 'The mail broke off');
    }
  }

  private hold(caller: string, bytes: number): void {
    this.heldBytes += bytes;
    const left = (this.heldOf.get(caller) ?? 0) + bytes;
    if (left) this.heldOf.set(caller, left);
    else this.heldOf.delete(caller);
  }

  private dismiss({ id }: SMTPServerSession, why = 'Shutting down, try again later'): void {
    if (this.busy.has(id)) return;
    for (const connection of this.server?.connections ?? [])
      if (connection.session.id === id) {
        connection.send(421, why);
        connection.close();
      }
  }
}

function limitTime(socket: net.Socket): void {
  const timer = setTimeout(() => socket.destroy(), CONNECTION_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
