import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const environmentsConfig = configSection('environments', {
  apiUrl: setting(
    'DAEMON_API_URL',
    z
      .url({ protocol: /^https?$/ })
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    'Where daemons of remote machines reach the gateway; default: APP_URL',
  ),
});
