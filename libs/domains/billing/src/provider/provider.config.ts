import { configSection, flag, integer, setting } from '@aps/platform/config';
import { z } from 'zod';

const listed = (raw: string): string[] => raw.split(/[\s,]+/).filter(Boolean);

export const providerConfig = configSection('payment-provider', {
  accessToken: setting(
    'POLAR_ACCESS_TOKEN',
    z.string().default(''),
    'Token for the API of the payment provider; without it nothing is sold',
    {
      secret: true,
    },
  ),
  apiUrl: setting(
    'POLAR_API_URL',
    z.url({ protocol: /^https?$/ }).default('https://api.polar.sh'),
    'Address of that API; https://sandbox-api.polar.sh for trying it out',
  ),
  timeoutMs: setting('POLAR_TIMEOUT_MS', integer(10_000, 1, 60_000), 'How long the payment provider may take for an answer'),
  webhookSecrets: setting(
    'POLAR_WEBHOOK_SECRETS',
    z.string().default('').transform(listed),
    'Secrets that deliveries of the payment provider are signed with, separated by commas: while one is changed, the old one and the new one. Without any, all are refused',
    { secret: true },
  ),
  returnUrl: setting(
    'BILLING_RETURN_URL',
    z.url({ protocol: /^https?$/ }).optional(),
    'Where the payment provider leads people back to; default: APP_URL',
  ),
  effects: setting('BILLING_EFFECTS', flag(true), 'Whether admin-api can run the effects of deliveries again; off: their replay is 503'),
});
