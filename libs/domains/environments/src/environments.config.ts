import { configSection, setting } from '@aps/platform/config';
import { mailConfig } from '@aps/platform/mail';
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

/** Where daemons reach the gateway, without a slash at its end. */
export const daemonApiUrl = (): string => environmentsConfig.value.apiUrl ?? mailConfig.value.appUrl;
