import { Upstream, sideBySide, startPlatform, type Platform } from '../../api-gateway-e2e/support';
import { Governance } from '../../chat-worker-e2e/src/governance';
import { failedAndReplayed } from './broken';
import { capReached, killedBeforeReceipts } from './paid-turns';

/** Credits and deliveries as the outside sees them while things go wrong. The scenarios share one platform. */
describe('money, when things go wrong', () => {
  let platform: Platform;
  let upstream: Upstream;
  let governance: Governance;
  let recovered: () => Promise<void>;

  beforeAll(async () => {
    platform = await startPlatform({
      apps: ['api-gateway', 'admin-api', 'billing-webhooks', 'chat-worker'],
      provider: true,
      env: { MAX_OWNED_ORGS: '0' },
    });
    upstream = new Upstream(new URL(platform.env.MOCK_ROUTE_BASE_URL!).origin);
    await upstream.start();
    governance = new Governance(platform, upstream);
    // Before all others, whose calls it would cut; its turns go on while they run.
    recovered = await killedBeforeReceipts(governance);
  });

  sideBySide({
    'a worker killed with answers in hand burns nothing for them, and the next one pays once': () => recovered(),
    'of two hundred turns at once no more are let through than there are credits for': () => capReached(governance),
    'a delivery that fails is given up, and applied by a replay': () => failedAndReplayed(platform),
  });

  afterAll(async () => {
    await upstream?.stop();
    await platform?.stop();
  });
});
