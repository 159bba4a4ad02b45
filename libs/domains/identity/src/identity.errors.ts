import { DomainError, refuseField } from '@aps/contracts';

export const invalidCredentials = () => new DomainError('invalid_credentials', 'The address or the password is wrong.');
export const tooManyAttempts = (retryAfterS: number) =>
  new DomainError('too_many_attempts', 'Too many attempts to log in have failed. Try again later.', { retryAfterS });
export const userNotFound = () => new DomainError('user_not_found', 'There is no such user.');
export const emailTaken = () => new DomainError('email_taken', 'A user with this address exists already.');
export const selfAction = (detail: string) =>
  new DomainError('self_action', detail, { problems: [{ loc: ['path', 'user_id'], msg: detail, type: 'semantic.self_action' }] });
export const lastAdmin = () => new DomainError('last_admin', 'The platform needs an administrator who can act.');
export const invalidState = () => new DomainError('invalid_state', 'This is unknown, used or too old, or of another browser. Begin anew.');
export const providerAway = (cause: Error) =>
  new DomainError('upstream_unavailable', 'The identity provider cannot be reached. Try again later.', { cause });
export const providerRefused = (detail: string, cause?: Error) => new DomainError('provider_sign_in_failed', detail, { cause });
export const verificationInvalid = () =>
  refuseField('verification_invalid', ['token'], 'The link is not valid: it is unknown, used or too old.');
export const resetTokenInvalid = () =>
  refuseField('reset_token_invalid', ['token'], 'The link is not valid: it is unknown, used or too old.');
