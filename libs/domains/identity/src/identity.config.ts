import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const REGISTRATION_MODES = ['open', 'allowlist', 'closed'] as const;
export type RegistrationMode = (typeof REGISTRATION_MODES)[number];

export const identityConfig = configSection('identity', {
  registrationMode: setting(
    'REGISTRATION_MODE',
    z.enum(REGISTRATION_MODES).default('allowlist'),
    'Who may sign up: open = anyone; allowlist = allowed, invited and admitted addresses; closed = nobody but BOOTSTRAP_ADMIN_EMAIL',
  ),
  bootstrapAdminEmail: setting(
    'BOOTSTRAP_ADMIN_EMAIL',
    z.email('must be an email address').optional(),
    'Address that may always sign up and then is a platform administrator. Sign up with it before the service is open to others',
  ),
});
