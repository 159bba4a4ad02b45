import { MAX_DELIVERY } from '@aps/billing/http';
import { configSection, integer, setting } from '@aps/platform/config';
import { z } from 'zod';
import type { ProxiedPath } from './proxied-path';

export const webhooksProxyConfig = configSection('webhooks-proxy', {
  url: setting(
    'BILLING_WEBHOOKS_URL',
    z.url({ protocol: /^http$/ }).default('http://billing-webhooks:3000'),
    'Address of billing-webhooks inside the cluster',
  ),
  // Less than the ten seconds that the provider waits, so that it hears, and we count, what became of its delivery. One that is stored later comes again, and changes nothing.
  timeoutMs: setting('BILLING_WEBHOOKS_TIMEOUT_MS', integer(8_000, 1, 60_000), 'How long billing-webhooks may take to begin an answer'),
});

/** What the payment provider delivers: billing-webhooks proves each delivery by the signature over its bytes. */
export const webhooksProxy: ProxiedPath = {
  name: 'Webhooks',
  prefix: '/api/webhooks',
  target: () => ({ baseUrl: webhooksProxyConfig.value.url, timeoutMs: webhooksProxyConfig.value.timeoutMs }),
  wholeBodies: MAX_DELIVERY,
  access: { tier: 'public' },
};
