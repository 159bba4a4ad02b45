/**
 * The apps of the platform, in the order in which they are shown. One that is not built yet is left out.
 *
 * - `port`: 'public' gets PORT on HOST, 'private' a free port of 127.0.0.1, without it the app serves only its internal port
 * - `announces`: the variable in which every app finds the address of this one
 * - `takesMail`: it listens for SMTP as well, on SMTP_LISTEN_PORT or a free port
 */
import { existsSync } from 'node:fs';
import { appModule } from './paths.mjs';

const APPS = [
  { name: 'api-gateway', port: 'public' },
  { name: 'admin-api', port: 'private', announces: 'ADMIN_API_URL' },
  { name: 'billing-webhooks', port: 'private', announces: 'BILLING_WEBHOOKS_URL' },
  { name: 'inbox-intake', port: 'private', announces: 'INBOX_INTAKE_URL', takesMail: true },
  { name: 'chat-worker' },
  { name: 'process-engine' },
];

export const builtApps = () => APPS.filter(({ name }) => existsSync(appModule(name)));
