import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import type { WaitlistStatus } from '@aps/entities';
import { Audit } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { uuidv7 } from 'uuidv7';
import type { ActingUser } from '@aps/guards';
import { admissionMail } from './identity.mails';
import { WaitlistRepository, type WaitlistRow } from './waitlist.repository';

/** The people who want in. */
@Injectable()
export class WaitlistService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
    private readonly entries: WaitlistRepository,
  ) {}

  /** Puts an address on the list, or notes that it asks again; one that was dismissed is open again. Tells nothing about which it was. */
  async ask(email: string, name: string | null = null, note: string | null = null): Promise<void> {
    await this.entries.ask(this.db, { id: uuidv7(), email, name, note });
  }

  /** Most recently asked first. */
  list(query: { status?: WaitlistStatus; limit?: number; offset?: number } = {}): Promise<{ items: WaitlistRow[]; total: number }> {
    return this.entries.list(this.db, query);
  }

  /** @throws DomainError 404 `not_found`, 409 `not_pending` */
  dismiss(actor: ActingUser, id: string): Promise<WaitlistRow> {
    return this.db.transaction(actor, async (tx) => {
      const entry = await this.lock(tx, id);
      if (entry.status !== 'pending') throw new DomainError('not_pending', `This entry is ${entry.status}, not pending.`);
      await this.record(tx, actor, 'waitlist.dismissed', entry);
      return this.entries.dismiss(tx, id);
    });
  }

  /**
   * Lets the address sign up and tells it so. Who is admitted or registered already is not told again.
   *
   * @throws DomainError 404 `not_found`
   */
  invite(actor: ActingUser, id: string): Promise<WaitlistRow> {
    return this.db.transaction(actor, async (tx) => {
      const entry = await this.lock(tx, id);
      if (entry.status === 'admitted' || entry.status === 'registered') return entry;
      await this.mail(tx, entry);
      await this.record(tx, actor, 'waitlist.invited', entry);
      return this.entries.admit(tx, id);
    });
  }

  /**
   * Sends the mail of an admission again. Who has registered since needs none.
   *
   * @throws DomainError 404 `not_found`, 409 `never_admitted`
   */
  resend(actor: ActingUser, id: string): Promise<WaitlistRow> {
    return this.db.transaction(actor, async (tx) => {
      const entry = await this.lock(tx, id);
      if (!entry.admitted_at) throw new DomainError('never_admitted', 'This entry was never admitted.');
      if (entry.status !== 'admitted') return entry;
      await this.mail(tx, entry);
      await this.record(tx, actor, 'waitlist.resent', entry);
      return this.entries.mailed(tx, id);
    });
  }

  private async lock(tx: Tx, id: string): Promise<WaitlistRow> {
    const entry = await this.entries.lock(tx, id);
    if (!entry) throw notFound('Waitlist entry');
    return entry;
  }

  private async mail(tx: Tx, { email }: WaitlistRow): Promise<void> {
    await this.mailer.send(tx, { to: email, ...admissionMail(email) });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, { id, email, status }: WaitlistRow): Promise<void> {
    await this.audit.record(tx, actor, action, { kind: 'waitlist_entry', id }, { email, from: status });
  }
}
