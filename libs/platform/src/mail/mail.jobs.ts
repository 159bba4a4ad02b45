import { Injectable, Logger } from '@nestjs/common';
import { QUEUE_POLICY, type JobPayload } from '@aps/contracts';
import { DecryptionError, EnvelopeCrypto } from '@aps/platform/crypto';
import { Database, statement } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { JobHandler } from '@aps/platform/queues';
import { bodyPlace, type MailBody } from './mailer';
import { MailError, MailTransport } from './transport';

/** How long a worker has for one mail; longer than the transport's time-outs together. */
const CLAIM_S = 60;

const CLAIM = statement(`
  UPDATE outbound_mails SET attempts = attempts + 1, claimed_until = now() + make_interval(secs => $2)
  WHERE id = $1 AND status = 'pending' AND (claimed_until IS NULL OR claimed_until <= now())
  RETURNING recipient, subject, body, attempts`);
const STATUS = statement('SELECT status FROM outbound_mails WHERE id = $1');
// Links in the body are credentials: they stay no longer than they are needed.
const SENT = statement(
  `UPDATE outbound_mails SET status = 'sent', body = NULL, sent_at = now(), claimed_until = NULL, last_error = NULL WHERE id = $1`,
);
const FAILED = statement(`UPDATE outbound_mails SET status = 'failed', body = NULL, claimed_until = NULL, last_error = $2 WHERE id = $1`);
const AGAIN = statement('UPDATE outbound_mails SET claimed_until = NULL, last_error = $2 WHERE id = $1');
const PURGE = statement(`
  DELETE FROM outbound_mails WHERE id IN (
    SELECT id FROM outbound_mails WHERE created_at < now() - make_interval(days => $2) AND status <> 'pending' ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)`);

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
    maintenance.register({ name: 'outbound_mails', everyS: 3_600, batch: 1_000, run: () => this.purge() });
  }

  /** @throws Error to be run again later */
  @JobHandler('mail.send')
  async send({ mail_id: id }: JobPayload<'mail.send'>): Promise<void> {
    const [mail] = await this.db.query<{ recipient: string; subject: string; body: string; attempts: number }>(CLAIM, [id, CLAIM_S]);
    if (!mail) {
      const [row] = await this.db.query<{ status: string }>(STATUS, [id]);
      // Not done, so the job must not end: whoever holds the mail may be dead.
      if (row?.status === 'pending') throw new Error('Another worker is sending this mail');
      return;
    }
    try {
      const body = JSON.parse(await this.crypto.decrypt(this.db, bodyPlace(id), mail.body)) as MailBody;
      await this.transport.deliver({ id, to: mail.recipient, subject: mail.subject, text: body.text, html: body.html });
    } catch (error) {
      const code = error instanceof MailError ? error.code : error instanceof DecryptionError ? 'UNDECRYPTABLE' : 'INTERNAL';
      const permanent = error instanceof MailError && error.permanent;
      if (permanent || mail.attempts >= QUEUE_POLICY.maintenance.attempts) {
        await this.db.execute(FAILED, [id, code]);
        this.logger.warn(`Gave up on mail ${id} after ${mail.attempts} attempt${mail.attempts === 1 ? '' : 's'}: ${code}`);
        return;
      }
      await this.db.execute(AGAIN, [id, code]);
      throw error;
    }
    await this.db.execute(SENT, [id]);
  }

  /**
   * Removes what is left of mails that are over; called by the maintenance until it returns less than `limit`.
   *
   * @returns how many were removed
   */
  purge(limit = 1_000, olderThanDays = 30): Promise<number> {
    return this.db.execute(PURGE, [limit, olderThanDays]);
  }
}
