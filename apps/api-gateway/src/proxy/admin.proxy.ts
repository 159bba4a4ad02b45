import { ADMIN_API_AUDIENCE } from '@aps/administration/http';
import { configSection, integer, setting } from '@aps/platform/config';
import { z } from 'zod';
import type { ProxiedPath } from './proxied-path';

export const adminProxyConfig = configSection('admin-proxy', {
  url: setting('ADMIN_API_URL', z.url({ protocol: /^http$/ }).default('http://admin-api:3000'), 'Address of admin-api inside the cluster'),
  timeoutMs: setting('ADMIN_API_TIMEOUT_MS', integer(30_000, 1, 600_000), 'How long admin-api may take to begin an answer'),
});

/** What operators do: answered by admin-api. */
export const adminProxy: ProxiedPath = {
  name: 'Admin',
  prefix: '/api/admin',
  target: () => ({ baseUrl: adminProxyConfig.value.url, timeoutMs: adminProxyConfig.value.timeoutMs }),
  access: { tier: 'platform_admin', audience: ADMIN_API_AUDIENCE },
};
