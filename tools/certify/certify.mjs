/**
 * `npm run certify [-- --messages 10000 --schedules 5000 --ledger 100000 --deliveries 10000 --inbox 10000 --runs 5000 --seed 42]`: the crash certificate at length, on servers of
 * its own. First plays schedules of things that are done to one chat, inbox or run at the same moment and operations on credits that break off, then sends messages,
 * deliveries of the payment provider, and what comes in to inboxes, and runs processes, while workers, billing-webhooks, inbox-intake, process-engines,
 * gateway, Redis and PostgreSQL die.
 * The same, smaller, is part of `npm test`.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const CAMPAIGNS = [
  'libs/domains/billing/src/ledger/ledger-property.medium.spec.ts',
  'libs/domains/chats/src/control/interleavings.medium.spec.ts',
  'libs/domains/inboxes/src/messages/interleavings.medium.spec.ts',
  'libs/domains/processes/src/runs/interleavings.medium.spec.ts',
  'apps/chat-worker-e2e/src/certificate.spec.ts',
  'apps/billing-webhooks-e2e/src/certificate.spec.ts',
  'apps/inbox-intake-e2e/src/certificate.spec.ts',
  'apps/process-engine-e2e/src/certificate.spec.ts',
];

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    schedules: { type: 'string', default: '5000' },
    ledger: { type: 'string', default: '100000' },
    deliveries: { type: 'string', default: '10000' },
    inbox: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d*$/.test(value)) continue;
  console.error(`--${name} must be a whole number above 0.`);
  process.exit(1);
}
const run = spawn(process.execPath, [fileURLToPath(new URL('../dev/test.mjs', import.meta.url)), ...CAMPAIGNS], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CERTIFY_MESSAGES: values.messages,
    CERTIFY_SCHEDULES: values.schedules,
    CERTIFY_LEDGER: values.ledger,
    CERTIFY_DELIVERIES: values.deliveries,
    CERTIFY_INBOX: values.inbox,
    CERTIFY_RUNS: values.runs,
    TEST_SEED: values.seed,
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => run.kill(signal));
run.once('exit', (code) => process.exit(code ?? 1));
