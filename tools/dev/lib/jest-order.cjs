/** The order in which test files begin: the longest first, or the run would end with one worker on a long file and the others without work. */
const path = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** Seconds that the longest files take, for a first run: afterwards Jest has measured them itself. */
const SECONDS = {
  'apps/chat-worker-e2e/src/recovery.spec.ts': 88,
  'apps/chat-worker-e2e/src/rolling.spec.ts': 52,
  'apps/chat-worker-e2e/src/pooler.spec.ts': 44,
  'apps/process-engine-e2e/src/certificate.spec.ts': 60,
  'apps/chat-worker-e2e/src/certificate.spec.ts': 36,
  'apps/chat-worker-e2e/src/governance.spec.ts': 35,
  'apps/billing-webhooks-e2e/src/certificate.spec.ts': 33,
  'apps/inbox-intake-e2e/src/intake.spec.ts': 33,
  'apps/inbox-intake-e2e/src/certificate.spec.ts': 30,
  'apps/billing-webhooks-e2e/src/money.spec.ts': 27,
  'apps/chat-worker-e2e/src/streams.spec.ts': 29,
  'tools/house-check/fuzz.medium.spec.ts': 50,
  'tools/house-check/hostile.medium.spec.ts': 30,
  'libs/domains/chats/src/control/interleavings.medium.spec.ts': 30,
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const ms = ({ path: file, duration, context }) => duration ?? 1000 * (SECONDS[path.relative(context.config.rootDir, file)] ?? 0);
    // What neither knows keeps Jest's order: the larger first.
    return super.sort(tests).sort((one, other) => ms(other) - ms(one));
  }
};
