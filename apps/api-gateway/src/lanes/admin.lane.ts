import { ADMIN_API_AUDIENCE } from '@aps/administration/http';
import { configSection, integer, setting } from '@aps/platform/config';
import { z } from 'zod';
import type { Lane } from './lane';

export const adminLaneConfig = configSection('admin-lane', {
  url: setting('ADMIN_API_URL', z.url({ protocol: /^http$/ }).default('http://admin-api:3000'), 'Address of admin-api inside the cluster'),
  timeoutMs: setting('ADMIN_API_TIMEOUT_MS', integer(30_000, 1, 600_000), 'How long admin-api may take to begin an answer'),
});

/** What operators do: answered by admin-api. */
export const adminLane: Lane = {
  name: 'Admin',
  prefix: '/api/admin',
  target: () => ({ baseUrl: adminLaneConfig.value.url, timeoutMs: adminLaneConfig.value.timeoutMs }),
  access: { tier: 'platform_admin', audience: ADMIN_API_AUDIENCE },
};
