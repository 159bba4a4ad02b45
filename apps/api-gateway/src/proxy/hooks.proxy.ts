import { MAX_WEBHOOK_BYTES } from '@aps/inboxes/http';
import { configSection, integer, setting } from '@aps/platform/config';
import { z } from 'zod';
import type { ProxiedPath } from './proxied-path';

export const hooksProxyConfig = configSection('hooks-proxy', {
  url: setting(
    'INBOX_INTAKE_URL',
    z.url({ protocol: /^http$/ }).default('http://inbox-intake:3000'),
    'Address of inbox-intake inside the cluster',
  ),
  // A mail is read before it is stored.
  timeoutMs: setting('INBOX_INTAKE_TIMEOUT_MS', integer(30_000, 1, 120_000), 'How long inbox-intake may take to begin an answer'),
});

/** What comes in to inboxes: inbox-intake finds each channel by the secret in its path, and proves mail by its provider's signature or password. */
export const hooksProxy: ProxiedPath = {
  name: 'Hooks',
  prefix: '/api/hooks',
  target: () => ({ baseUrl: hooksProxyConfig.value.url, timeoutMs: hooksProxyConfig.value.timeoutMs }),
  // All webhooks, and most mails.
  wholeBodies: MAX_WEBHOOK_BYTES,
  access: { tier: 'public', provenBy: 'authorization' },
};
