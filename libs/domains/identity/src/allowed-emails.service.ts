import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { Audit } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { ActingUser } from '@aps/guards';
import { AllowedEmailsRepository, type AllowedEmailView } from './allowed-emails.repository';

/** The addresses that may sign up without an invitation. */
@Injectable()
export class AllowedEmailsService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly emails: AllowedEmailsRepository,
  ) {}

  /** Newest first. */
  list(): Promise<AllowedEmailView[]> {
    return this.emails.list(this.db);
  }

  /** @throws DomainError 409 `already_allowed` */
  add(actor: ActingUser, email: string): Promise<AllowedEmailView> {
    return this.db.transaction(actor, async (tx) => {
      const id = uuidv7();
      if (!(await this.emails.insert(tx, id, email, actor.userId)))
        throw new DomainError('already_allowed', 'This address is allowed already.');
      await this.record(tx, actor, 'allowed_email.added', id, email);
      return this.emails.byId(tx, id);
    });
  }

  /**
   * Who has signed up with the address stays.
   *
   * @throws DomainError 404 `not_found`
   */
  remove(actor: ActingUser, id: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      const email = await this.emails.remove(tx, id);
      if (email === null) throw notFound('Allowed email');
      await this.record(tx, actor, 'allowed_email.removed', id, email);
    });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, id: string, email: string): Promise<void> {
    await this.audit.record(tx, actor, action, { kind: 'allowed_email', id }, { email });
  }
}
