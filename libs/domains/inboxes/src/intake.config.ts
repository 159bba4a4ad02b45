import { accessSync, constants } from 'node:fs';
import { configSection, integer, setting } from '@aps/platform/config';
import { z } from 'zod';

/** The path of a file that can be read. */
const file = (env: string, description: string) =>
  setting(
    env,
    z
      .string()
      .optional()
      .transform((path, ctx) => {
        if (path === undefined) return undefined;
        try {
          accessSync(path, constants.R_OK);
          return path;
        } catch {
          ctx.addIssue({ code: 'custom', message: 'cannot be read' });
          return z.NEVER;
        }
      }),
    description,
  );

const secret = (provider: string, what: string) =>
  setting(`INBOUND_EMAIL_SECRET_${provider.toUpperCase()}`, z.string().min(1).max(1_024).optional(), what, { secret: true });

/** Connections at the port of mail. */
export const MAX_CLIENTS = 100;
/** Bytes of a delivery of mail by HTTP: the mail in base64, and what is said of it. */
export const MAX_DELIVERY = 40 * 1024 * 1024;

export const intakeConfig = configSection('intake', {
  smtpHost: setting('SMTP_HOST', z.string().default('127.0.0.1'), 'Address that mail is taken in at; 0.0.0.0 in a container'),
  smtpPort: setting('SMTP_LISTEN_PORT', integer(2525, 0, 65_535), 'Port that mail is taken in at; 0 takes a free one'),
  smtpCertificate: file(
    'SMTP_TLS_CERT_FILE',
    'File of the certificate for STARTTLS, with its chain, in PEM; read again every hour. Empty: no STARTTLS',
  ),
  smtpKey: file('SMTP_TLS_KEY_FILE', 'File of the key of SMTP_TLS_CERT_FILE'),
  smtpPerAddress: setting(
    'SMTP_CONNECTIONS_PER_ADDRESS',
    integer(10, 1, MAX_CLIENTS),
    `Connections that one address may have at a process's port of mail, of ${MAX_CLIENTS} in all. Behind a balancer that hides addresses all come from one: then ${MAX_CLIENTS}`,
  ),
  hookBytes: setting(
    'HOOK_BUFFER_BYTES',
    integer(192 * 1024 * 1024, 2 * MAX_DELIVERY, 2 ** 40),
    'Bytes of deliveries to /api/hooks that one process holds in memory: half of them of mails, of one address a quarter of that half, or 40 MiB, half of webhooks, each counted four times, and of one channel a quarter of that half, or 20 MiB. What comes beyond is asked to come again',
  ),
  generic: secret('generic', 'Secret that /api/hooks/email/generic is signed with, as Standard Webhooks has it. Empty: it is not served'),
  mailgun: secret('mailgun', 'HTTP webhook signing key of Mailgun. Empty: /api/hooks/email/mailgun is not served'),
  postmark: secret(
    'postmark',
    'User and password, joined by a colon, in the address that Postmark posts to. Empty: /api/hooks/email/postmark is not served',
  ),
  ses: secret('ses', 'ARN of the SNS topic that Amazon SES publishes mails to. Empty: /api/hooks/email/ses is not served'),
});
