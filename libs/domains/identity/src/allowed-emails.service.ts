import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { AllowedEmail } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, Table, type Listed } from '@aps/platform/database';
import { parseEmail } from '@aps/platform/email';
import { ALLOWED_EMAILS, type AllowedEmailView } from './allowed-emails.queries';

/** The addresses that may sign up without an invitation. */
@Injectable()
export class AllowedEmailsService {
  private readonly emails = new Table(AllowedEmail, 'Allowed email');

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
  ) {}

  /** Newest first. */
  list(): Promise<Listed<AllowedEmailView>> {
    return ALLOWED_EMAILS.page(this.db, {}, {});
  }

  /** @throws DomainError 409 `already_allowed` */
  add(actor: ActingUser, email: string): Promise<AllowedEmailView> {
    return this.db.transaction(actor, async (tx) => {
      const row = { email, email_canonical: parseEmail(email)?.canonical, added_by: actor.userId };
      const added = await this.emails.insertOrNothing(tx, row);
      if (!added) throw new DomainError('already_allowed', 'This address is allowed already.');
      await this.audit.record(tx, actor, 'allowed_email.added', added.id, { email });
      return ALLOWED_EMAILS.get(tx, added.id, {});
    });
  }

  /** Who has signed up with the address stays. @throws DomainError 404 `not_found` */
  remove(actor: ActingUser, id: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      const removed = await this.emails.remove(tx, id);
      await this.audit.record(tx, actor, 'allowed_email.removed', id, { email: removed.email });
    });
  }
}
