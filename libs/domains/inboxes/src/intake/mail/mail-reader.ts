import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Places, type Place } from '@aps/platform/children';
import { fromAlone, NOBODY_VOUCHES, type MailAuth, type MailEnvelope, type MailParts } from './mail.types';
import { MailResolver } from './mail-resolver';
import { ReaderProcess, type MailInProcess } from './reader-process';

/** What a mail says; `parts` is null where it could not be read. */
export interface ReadMail {
  parts: MailParts | null;
  auth: MailAuth;
}

/** Places at which a mail is parsed. */
const READERS = 2;

/** `parts` is undefined where a process has ended over it. */
interface Parsed extends Pick<MailInProcess, 'auth'> {
  parts: MailParts | null | undefined;
}

/** Reads mails in processes of their own: what a hostile mail can do ends there, with that mail alone. */
@Injectable()
export class MailReader implements OnApplicationShutdown {
  private readonly places = new Places<ReaderProcess>(READERS, { room: (process) => process.room() });
  private isEnding = false;

  constructor(private readonly resolver: MailResolver) {}

  /** @throws DomainError `service_unavailable` when this process ends before the mail is read: whoever has it sends it again */
  async read(raw: Buffer, envelope: MailEnvelope): Promise<ReadMail> {
    const { parts, auth } = await this.places.at((place) => this.parse(place, raw, envelope));
    if (parts === undefined) return { parts: null, auth: NOBODY_VOUCHES };
    return { parts, auth: (await auth) ?? (await this.askAgain(raw, envelope, fromAlone(parts))) };
  }

  onApplicationShutdown(): void {
    this.isEnding = true;
    for (const { holds } of this.places.all) holds?.end();
  }

  /** What has ended a process may be another mail in it, so one that was not alone is read once more, alone. */
  private async parse(place: Place<ReaderProcess>, raw: Buffer, envelope: MailEnvelope): Promise<Parsed> {
    const process = this.runningAt(place);
    const wasAlone = process.isEmpty;
    const { parts, auth } = process.read(raw, envelope);
    const found = { parts: await parts, auth };
    const isOver = found.parts !== undefined || (wasAlone && !this.isEnding);
    return isOver ? found : this.parse(place, raw, envelope);
  }

  /** Of a mail that waited in a process that has ended: until it is done, or was alone in one that ends as well. */
  private async askAgain(raw: Buffer, envelope: MailEnvelope, from: string | null): Promise<MailAuth> {
    const { auth, wasAlone } = await this.places.at((place) => {
      const process = this.runningAt(place);
      return { wasAlone: process.isEmpty, auth: process.authenticate(raw, envelope, from) };
    });
    return (await auth) ?? (wasAlone && !this.isEnding ? NOBODY_VOUCHES : this.askAgain(raw, envelope, from));
  }

  private runningAt(place: Place<ReaderProcess>): ReaderProcess {
    if (this.isEnding) throw new DomainError('service_unavailable', 'This process ends. Try again.', { retryAfterS: 1 });
    return (place.holds = place.holds?.isRunning ? place.holds : new ReaderProcess(this.resolver));
  }
}
