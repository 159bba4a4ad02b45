import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

/** One address, with or without a display name: `a@b.example` or `Name <a@b.example>`. */
const sender = z.string().regex(/^(?:[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, 'must be an address, or Name <address>');

export const mailConfig = configSection('mail', {
  smtpUrl: setting(
    'SMTP_URL',
    z
      .string()
      .regex(/^smtps?:\/\//, 'must be smtp:// or smtps://')
      .optional(),
    'Server that mail is sent through, smtp://user:password@host:587. Empty: mail is written to MAIL_DIR',
    {
      secret: true,
    },
  ),
  dir: setting('MAIL_DIR', z.string().default('.data/mail'), 'Folder for one .eml file per mail while no SMTP_URL is set'),
  from: setting('MAIL_FROM', sender.default('Agent Platform <no-reply@localhost.localdomain>'), 'Sender of every mail'),
  appUrl: setting(
    'APP_URL',
    z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      .default('http://127.0.0.1:3000')
      .transform((url) => url.replace(/\/+$/, '')),
    'Where people reach the application; links in mails begin with it',
  ),
});

/** An address in the application, e.g. `appLink('/invite/', token)`: every further part is encoded. */
export function appLink(path: string, ...parts: string[]): string {
  return `${mailConfig.value.appUrl}${path}${parts.map(encodeURIComponent).join('/')}`;
}
