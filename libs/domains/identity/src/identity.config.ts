import { configSection, setting } from '@aps/platform/config';
import { parseEmail } from '@aps/platform/email';
import { z } from 'zod';
import { EMAIL_PROOFS, REGISTRATION_MODES } from './registration.policy';

export const identityConfig = configSection('identity', {
  registrationMode: setting(
    'REGISTRATION_MODE',
    z.enum(REGISTRATION_MODES).default('allowlist'),
    'Who may sign up: open = anyone; allowlist = allowed, invited and admitted addresses; closed = nobody but BOOTSTRAP_ADMIN_EMAIL',
  ),
  bootstrapAdminEmail: setting(
    'BOOTSTRAP_ADMIN_EMAIL',
    z
      .string()
      .refine((text) => parseEmail(text) !== null, 'must be an email address')
      .optional(),
    'Address that may always sign up and, once proven, is a platform administrator. With EMAIL_PROOF=off sign up with it before the service is open to others',
  ),
  emailProof: setting(
    'EMAIL_PROOF',
    z.enum(EMAIL_PROOFS).default('required'),
    'required = who signs up gets what is meant for the address (invitations, the role of BOOTSTRAP_ADMIN_EMAIL) with a mailed link, whether an invitation or a confirmation; off = at once, on the word of who types it',
  ),
});
