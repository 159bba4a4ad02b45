import { z } from 'zod';
import { configSection, integer, setting } from '@aps/platform/config';

export const httpConfig = configSection('http', {
  host: setting('HOST', z.string().default('127.0.0.1'), 'Address that the HTTP port listens on; 0.0.0.0 in a container'),
  port: setting('PORT', integer(3000, 0, 65_535), 'HTTP port; 0 takes a free one'),
  trustProxy: setting('TRUST_PROXY', integer(0, 0, 10), 'Reverse proxies in front of the service, whose X-Forwarded-For is believed'),
  corsOrigins: setting(
    'CORS_ORIGINS',
    z
      .string()
      .default('')
      .transform((raw) =>
        raw
          .split(',')
          .map((o) => o.trim())
          .filter(Boolean),
      ),
    'Origins of browser applications that may call the API, separated by commas',
  ),
});
