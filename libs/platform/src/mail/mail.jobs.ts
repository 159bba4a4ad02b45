import { Injectable, Logger } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { DecryptionError, EnvelopeCrypto } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { counter, gauge } from '@aps/platform/observability';
import { JobHandler, PutOff } from '@aps/platform/queues';
import { bodyPlace, type MailBody } from './mailer';
import { DELIVERY_MS, MailError, MailTransport } from './transport';
import { AGAIN, CLAIM, FAILED, HELD, LOST, PURGE, SENT, WAITING } from './mail.sql';

/** How long a worker has for one mail: until then no second one begins with it. */
const CLAIM_S = DELIVERY_MS / 1_000 + 10;

/** A mail server may be away over a weekend: so many hours a mail is tried, in growing waits of so many seconds. */
const TRIED_FOR_H = 72;
const FIRST_WAIT_S = 5;
const LONGEST_WAIT_S = 3_600;

const tries = counter('mail_tries_total', 'Tries to hand a mail to the mail server, by what came of it', ['outcome']);

/** Brings mails out of the house. A mail that is sent is never sent again; one whose worker died between sending and noting it is. */
@Injectable()
export class MailJobs {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly db: Database,
    private readonly crypto: EnvelopeCrypto,
    private readonly transport: MailTransport,
    maintenance: Maintenance,
  ) {
    // From the beginning, or an alert could not ask for what has never been.
    for (const outcome of ['sent', 'later', 'unreachable', 'failed']) tries.inc({ outcome }, 0);
    const draw = (figure: 'n' | 'oldest_s') => async (g: { set: (value: number) => void }) => {
      const [waiting] = await this.db.query(WAITING);
      g.set(waiting[figure]);
    };
    gauge('mails_waiting', 'Mails that have not left', [], draw('n'));
    gauge('mail_oldest_waiting_seconds', 'Age of the oldest mail that has not left', [], draw('oldest_s'));
    maintenance.register({ name: 'outbound_mails', everyS: 3_600, batch: 1_000, run: () => this.purge() });
  }

  /** @throws PutOff until it is tried again, or until no other worker has it */
  @JobHandler('mail.send')
  async send({ mail_id: id }: JobPayload<'mail.send'>): Promise<void> {
    const [mail] = await this.db.query(CLAIM, [id, CLAIM_S, TRIED_FOR_H]);
    if (!mail) {
      const [held] = await this.db.query(HELD, [id]);
      // Not done, so the job must not end: whoever holds the mail may be dead.
      if (held) throw new PutOff(held.seconds, 'Another worker is sending this mail');
      return;
    }
    try {
      const body = JSON.parse(await this.crypto.decrypt(this.db, bodyPlace(id), mail.body)) as MailBody;
      await this.transport.deliver({ id, to: mail.recipient, subject: mail.subject, ...body });
    } catch (error) {
      const code = error instanceof MailError ? error.code : error instanceof DecryptionError ? 'UNDECRYPTABLE' : 'INTERNAL';
      const isOver = mail.is_last || (error instanceof MailError && error.permanent);
      const isOfMail = error instanceof MailError && error.isOfMail;
      tries.inc({ outcome: isOver ? 'failed' : isOfMail ? 'later' : 'unreachable' });
      if (isOver) {
        await this.db.execute(FAILED, [id, code]);
        this.logger.warn(`Gave up on mail ${id} after ${mail.attempts} attempt${mail.attempts === 1 ? '' : 's'}: ${code}`);
        return;
      }
      await this.db.execute(AGAIN, [id, code]);
      const seconds = Math.min(FIRST_WAIT_S * 2 ** (mail.attempts - 1), LONGEST_WAIT_S) * (0.5 + Math.random() / 2);
      this.logger.warn(`Mail ${id} was not taken, and is tried again in ${Math.ceil(seconds)} s: ${code}`);
      throw new PutOff(seconds, code);
    }
    tries.inc({ outcome: 'sent' });
    await this.db.execute(SENT, [id]);
  }

  /**
   * Removes what is left of mails that are over, and gives up those whose job is gone; called by the maintenance until it returns less than `limit`.
   *
   * @returns how many were removed
   */
  async purge(limit = 1_000, olderThanDays = 30): Promise<number> {
    await this.db.execute(LOST, [TRIED_FOR_H + 24]);
    return this.db.execute(PURGE, [limit, olderThanDays]);
  }
}
