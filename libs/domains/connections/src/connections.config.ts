import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const connectionsConfig = configSection('connections', {
  demoToolsUrl: setting(
    'DEMO_TOOLS_URL',
    z.url({ protocol: /^https?$/ }).optional(),
    'Where the demo tool server listens, http://127.0.0.1:4020/mcp. Empty: the catalog has no demo; nor has it one with NODE_ENV=production',
  ),
});
