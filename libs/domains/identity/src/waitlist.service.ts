import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { listTally, WaitlistEntry, type WaitlistStatus } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, Table, type Columns, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { Mailer } from '@aps/platform/mail';
import { uuidv7 } from 'uuidv7';
import { admissionMail } from './identity.mails';
import { ASK } from './waitlist.sql';

/** The people who want in. */
@Injectable()
export class WaitlistService {
  private readonly entries = new Table(WaitlistEntry, 'Waitlist entry', {
    from: listTally('waitlist_entries'),
    where: { status: 't.facet = $' },
  });

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
  ) {}

  /** Puts an address on the list, or notes that it asks again; one that was dismissed is open again. Who has an account is registered. Tells nothing about which it was. */
  async ask(email: string, name: string | null = null, note: string | null = null): Promise<void> {
    await this.db.execute(ASK, [uuidv7(), email, canonicalEmail(email), name, note]);
  }

  /** Most recently asked first. */
  list({ status, ...slice }: { status?: WaitlistStatus } & Slice = {}): Promise<Listed<WaitlistEntry>> {
    return this.entries.page(this.db, status ? { status } : {}, { asked_at: 'DESC', id: 'DESC' }, slice);
  }

  /** @throws DomainError 404 `not_found`, 409 `not_pending` */
  dismiss(actor: ActingUser, id: string): Promise<WaitlistEntry> {
    return this.db.transaction(actor, async (tx) => {
      const entry = await this.entries.get(tx, id, 'for update');
      if (entry.status !== 'pending') throw new DomainError('not_pending', `This entry is ${entry.status}, not pending.`);
      return this.change(tx, actor, 'waitlist.dismissed', entry, { status: 'dismissed', dismissed_at: now });
    });
  }

  /** Lets the address sign up and tells it so. Who is admitted or registered already is not told again. @throws DomainError 404 `not_found` */
  invite(actor: ActingUser, id: string): Promise<WaitlistEntry> {
    return this.db.transaction(actor, async (tx) => {
      const entry = await this.entries.get(tx, id, 'for update');
      if (entry.status === 'admitted' || entry.status === 'registered') return entry;
      await this.mailer.send(tx, { to: entry.email, ...admissionMail(entry.email) });
      const admitted = { status: 'admitted', admitted_at: now, dismissed_at: null, last_mailed_at: now } as const;
      return this.change(tx, actor, 'waitlist.invited', entry, admitted);
    });
  }

  /** Mails the admission again. Who has registered since needs none. @throws DomainError 404 `not_found`, 409 `never_admitted` */
  resend(actor: ActingUser, id: string): Promise<WaitlistEntry> {
    return this.db.transaction(actor, async (tx) => {
      const entry = await this.entries.get(tx, id, 'for update');
      if (!entry.admitted_at) throw new DomainError('never_admitted', 'This entry was never admitted.');
      if (entry.status !== 'admitted') return entry;
      await this.mailer.send(tx, { to: entry.email, ...admissionMail(entry.email) });
      return this.change(tx, actor, 'waitlist.resent', entry, { last_mailed_at: now });
    });
  }

  /** @param entry as it is, locked */
  private async change(tx: Tx, actor: ActingUser, action: string, entry: WaitlistEntry, columns: Columns<WaitlistEntry>) {
    const { id, email, status: from } = entry;
    await this.audit.record(tx, actor, action, { kind: 'waitlist_entry', id }, { email, from });
    return (await this.entries.update(tx, id, columns))!;
  }
}
