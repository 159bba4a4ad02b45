import { configSection, integer, setting } from '@aps/platform/config';
import { z } from 'zod';
import { hostKey, urlOf } from './address';

const allowList = z
  .string()
  .default('')
  .transform((raw, ctx) => {
    const entries = new Set<string>();
    for (const entry of raw.split(',').map((e) => e.trim())) {
      if (!entry) continue;
      const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(entry) ?? [];
      // Read by the parser that reads the addresses, so that both sides have one spelling.
      if (!host || !port || Number(port) > 65_535 || !urlOf(`http://${host}:${port}/`)) {
        ctx.addIssue({ code: 'custom', message: 'must be host:port, several separated by commas' });
        return z.NEVER;
      }
      entries.add(hostKey(new URL(`http://${host}/`).hostname, Number(port)));
    }
    return entries;
  });

export const egressConfig = configSection('egress', {
  allow: setting(
    'EGRESS_ALLOW',
    allowList,
    'Internal addresses (host:port, separated by commas) that organizations may name for tools, sources, hooks and images, over http as well. Never applies to model providers',
  ),
  connectTimeoutMs: setting(
    'EGRESS_CONNECT_TIMEOUT_MS',
    integer(10_000, 100, 120_000),
    'Time to resolve, connect and agree on TLS with an address that an organization chose',
  ),
  headersTimeoutMs: setting('EGRESS_HEADERS_TIMEOUT_MS', integer(30_000, 100, 600_000), 'Time such an address has to begin its answer'),
  bodyTimeoutMs: setting('EGRESS_BODY_TIMEOUT_MS', integer(30_000, 100, 600_000), 'Time such an address may be silent within its answer'),
  totalTimeoutMs: setting(
    'EGRESS_TOTAL_TIMEOUT_MS',
    integer(60_000, 100, 3_600_000),
    'Time a whole fetch from such an address may take, redirects included',
  ),
  maxBytes: setting('EGRESS_MAX_BYTES', integer(20 * 1024 * 1024, 1), 'Largest answer taken from such an address, after decompression'),
});
