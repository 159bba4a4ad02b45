import { AllowedEmail, ApiToken, PlatformAdminRow, Session, User, WaitlistEntry } from '@aps/entities';
import { PrincipalStore, SignInRules } from '@aps/guards';
import { hashToken, newApiToken, newSessionToken, tokenHint } from '@aps/platform/crypto';
import { canonicalEmail } from '@aps/platform/email';
import type { Bearer } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';

export const PASSWORD = 'correct horse battery';
/** Of {@link PASSWORD}, as it is stored: hashing takes its time, and specs make many users. */
const PASSWORD_HASH = '$argon2id$v=19$m=19456,t=2,p=1$fgIXxJp1/UzjJ8MffTNJVg$aoW+37wsq0NndvhfnO8HQl7Qx1b+mT/3BN3K3RX8HpQ';
const DAY = 86_400_000;

export interface TestUser {
  id: string;
  email: string;
  name: string;
}

/** Somebody who is signed in. */
export interface Person extends TestUser, Bearer {
  sessionId: string;
}

let made = 0;
/** An address that no other test of this file uses. */
export const anEmail = (name = 'user') => `${name}.${++made}@example.com`;

/** A user with {@link PASSWORD} and a proven address, not signed in. */
export async function aUser(service: TestService, { email = anEmail(), admin = false } = {}): Promise<TestUser> {
  const user = { email, name: email.split('@')[0] };
  const secrets = { email_canonical: canonicalEmail(email)!, password_hash: PASSWORD_HASH, email_verified_at: new Date() };
  const id = await service.insert(User, { ...user, ...secrets });
  if (admin) await service.db.manager.insert(PlatformAdminRow, { user_id: id });
  return { id, ...user };
}

export async function aPerson(service: TestService, options?: { email?: string; admin?: boolean }): Promise<Person> {
  const user = await aUser(service, options);
  return { ...user, ...(await aSession(service, user)) };
}

export async function aSession(service: TestService, { id: user_id }: { id: string }, over: Partial<Session> = {}) {
  const token = newSessionToken();
  const row = { user_id, token_hash: hashToken(token), expires_at: new Date(Date.now() + DAY), ...over };
  return { token, sessionId: await service.insert(Session, row) };
}

/** An API token, good for everything unless said otherwise. */
export async function anApiToken(service: TestService, { id: user_id }: { id: string }, over: Partial<ApiToken> = {}): Promise<Bearer> {
  const token = newApiToken();
  await service.insert(ApiToken, { user_id, name: 'test', token_hash: hashToken(token), ...tokenHint(token), ...over });
  return { token };
}

/** Signs in by password. */
export async function login(service: TestService, { email }: { email: string }, password = PASSWORD): Promise<Bearer> {
  return (await service.make('POST', '/api/auth/login', { body: { email, password } })).session as Bearer;
}

export function signup(service: TestService, email: string, more: Record<string, unknown> = {}, headers?: Record<string, string>) {
  return service.call('POST', '/api/auth/signup', { body: { email, password: PASSWORD, ...more }, headers });
}

/** What the guard makes of a bearer right now: `ok` or the error's code. Asks past the guard's memory of one second. */
export function stateOf(service: TestService, { token }: Bearer): Promise<string> {
  return codeOf(new PrincipalStore(service.db, service.get(SignInRules)).byToken(token));
}

/** `ok`, or the code of the error. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

/** Lets an address sign up. */
export function allow(service: TestService, email: string): Promise<string> {
  return service.insert(AllowedEmail, { email, email_canonical: canonicalEmail(email)! });
}

/** A request on the waitlist. */
export async function aWaitlistEntry(service: TestService, over: Partial<WaitlistEntry> = {}): Promise<{ id: string; email: string }> {
  const email = over.email ?? anEmail();
  return { id: await service.insert(WaitlistEntry, { email, email_canonical: canonicalEmail(email)!, ...over }), email };
}
