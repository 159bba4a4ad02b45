/** The secrets of the development stack: made once, kept in the data folder, overridden by the environment. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from './files.mjs';

const webhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

const MAKE = {
  MASTER_KEYS: () => `1:${randomBytes(32).toString('base64')}`,
  INTERNAL_TOKEN_SECRET: () => randomBytes(32).toString('base64url'),
  POLAR_WEBHOOK_SECRETS: webhookSecret,
  INBOUND_EMAIL_SECRET_GENERIC: webhookSecret,
};

export function developmentSecrets(dir) {
  const file = path.join(dir, 'secrets.json');
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const secrets = Object.fromEntries(Object.entries(MAKE).map(([name, make]) => [name, kept[name] ?? make()]));
  if (Object.keys(MAKE).some((name) => !kept[name])) replaceFile(file, `${JSON.stringify({ ...kept, ...secrets }, null, 2)}\n`);
  return secrets;
}
