import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { AllowedEmail, WaitlistEntry, type User } from '@aps/entities';
import { actingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { hashPassword } from '@aps/platform/crypto';
import { NO_CALLER, Database, Table, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { appLink } from '@aps/platform/mail';
import { ofAddress } from './address';
import { EmailProofsService } from './email-proofs.service';
import { identityConfig } from './identity.config';
import { emailTaken } from './identity.errors';
import { OrganizationPort } from './organization-port';
import { isBootstrapAdmin, PlatformAdminsService } from './platform-admins.service';
import { mayRegister, signupProves } from './registration.policy';
import type { SessionClient } from './sessions.repository';
import { SessionsService, type SignIn } from './sessions.service';
import { UsersService, type UserRow } from './users.service';
import { REGISTER } from './waitlist.sql';

/** Who signs up, however they sign in. */
interface Newcomer {
  email: string;
  name?: string;
  invitation_token?: string;
  org_name?: string;
}

export interface SignupInput extends Newcomer {
  password: string;
}

/** How a person becomes a user. */
@Injectable()
export class SignupService {
  private readonly allowed = new Table(AllowedEmail);
  private readonly asking = new Table(WaitlistEntry);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly users: UsersService,
    private readonly admins: PlatformAdminsService,
    private readonly proofs: EmailProofsService,
    private readonly sessions: SessionsService,
    private readonly orgs: OrganizationPort,
  ) {}

  /**
   * Makes the user, redeems the pending invitations (or makes an organization) and signs in, all or nothing. Where the signup does not prove
   * the address, invitations and the first administrator's role wait for the link that is mailed.
   *
   * @throws DomainError 409 `email_taken`, 403 `registration_not_allowed`
   */
  async signup(input: SignupInput, client: SessionClient, requestId?: string): Promise<SignIn> {
    // What will be refused anyway must not cost a password hash. The users come last: who signs up in between has taken the address.
    const isAllowed = await this.isAllowed(this.db, input);
    if (await this.users.findByEmail(this.db, input.email)) throw emailTaken();
    if (!isAllowed) throw registrationNotAllowed();
    const password_hash = await hashPassword(input.password);
    const proven = signupProves(identityConfig.value.emailProof, input.invitation_token);
    return this.db.transaction(NO_CALLER, async (tx) =>
      this.sessions.signIn(tx, await this.register(tx, input, { password_hash, proven }, requestId), client),
    );
  }

  /**
   * Makes the user with all that comes with one, in the caller's transaction.
   *
   * @param provider whose word is taken for the address
   * @throws DomainError as {@link signup}; the transaction is lost then
   */
  async register(
    tx: Tx,
    input: Newcomer,
    { password_hash, proven, provider }: Pick<User, 'password_hash'> & { proven: boolean; provider?: string },
    requestId?: string,
  ): Promise<UserRow> {
    const name = input.name?.trim() || input.email.split('@')[0];
    // The row comes first: a second signup of the address waits here for the first and then finds it taken, whatever speaks for it.
    const user = await this.users.create(tx, { email: input.email, name, password_hash, proven });
    if (!(await this.isAllowed(tx, input))) throw registrationNotAllowed();
    await tx.execute(REGISTER, [canonicalEmail(user.email)]);
    await (proven ? this.admins.onProof(tx, user, requestId) : this.proofs.ask(tx, user, requestId));
    await this.orgs.onSignup(tx, {
      user: { id: user.id, email: user.email, name },
      isProven: proven,
      invitationToken: input.invitation_token,
      orgName: input.org_name,
      requestId,
    });
    await this.audit.record(tx, actingUser(user.id, { requestId }), 'user.signed_up', user.id, provider ? { provider } : {});
    return user;
  }

  private async isAllowed(db: Db, { email }: Newcomer): Promise<boolean> {
    const { registrationMode } = identityConfig.value;
    return mayRegister(registrationMode, {
      isBootstrapAdmin: isBootstrapAdmin(email),
      isAllowed: (await this.allowed.find(db, ofAddress(email))) !== null,
      isAdmitted: (await this.asking.find(db, { ...ofAddress(email), status: 'admitted' })) !== null,
      isInvited: await this.orgs.isInvited(db, email),
    });
  }
}

const registrationNotAllowed = () =>
  new DomainError('registration_not_allowed', 'This address may not sign up yet.', { context: { waitlist_url: appLink('/waitlist') } });
