/**
 * `npm run certify [-- --messages 10000 --seed 42]`: the crash certificate at length. Sends messages while workers, gateway, Redis and
 * PostgreSQL die, on servers of its own, and ends with a table; the same campaign, smaller, is part of `npm test`.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { messages: { type: 'string', default: '10000' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } } });
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d*$/.test(value)) continue;
  console.error(`--${name} must be a whole number above 0.`);
  process.exit(1);
}
const run = spawn(process.execPath, [fileURLToPath(new URL('../dev/test.mjs', import.meta.url)), 'apps/chat-worker-e2e/src/certificate.spec.ts'], {
  stdio: 'inherit',
  env: { ...process.env, CERTIFY_MESSAGES: values.messages, TEST_SEED: values.seed },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => run.kill(signal));
run.once('exit', (code) => process.exit(code ?? 1));
