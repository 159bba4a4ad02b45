import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const connectionsConfig = configSection('connections', {
  demoToolsUrl: setting(
    'DEMO_TOOLS_URL',
    z.url({ protocol: /^https?$/ }).optional(),
    'Where the demo tool server listens, http://127.0.0.1:4020/mcp. Empty: the catalog has no demo; nor has it one with NODE_ENV=production',
  ),
  composioApiKey: setting(
    'COMPOSIO_API_KEY',
    z.string().trim().min(1).optional(),
    'Key of a Composio project; the catalog has its toolkits that have an enabled auth config there. Empty: no managed apps, but for the demo',
    { secret: true },
  ),
  composioUrl: setting('COMPOSIO_URL', z.url({ protocol: /^https?$/ }).default('https://backend.composio.dev'), 'Where Composio is asked'),
  demoAppsUrl: setting(
    'DEMO_APPS_URL',
    z.url({ protocol: /^https?$/ }).optional(),
    'Where the demo of managed apps listens, http://127.0.0.1:4020. Not asked with COMPOSIO_API_KEY, nor with NODE_ENV=production',
  ),
});
