import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export const inboundConfig = configSection('inbound', {
  emailDomain: setting(
    'INBOUND_EMAIL_DOMAIN',
    z.string().max(180).toLowerCase().regex(DOMAIN, 'must be a host name').default('inbound.localhost'),
    'Domain of the addresses of inboxes: <inbox>@<organization>.<domain>. Mail for all hosts below it comes here',
  ),
  hooksUrl: setting(
    'HOOKS_URL',
    z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    'Where senders of webhooks reach the gateway; default: APP_URL',
  ),
});
