import { Upstream, sideBySide, startPlatform, type Platform } from '../../api-gateway-e2e/support';
import { Governance } from './governance';
import { budgetReached, killedAmongCalls, pricedInAllDialects } from './governed-money';
import { headersForged, KEYED_ROUTE, keysChanged, modelRetired, routeDisabled, routeRepointed } from './governed-routes';

/** What operators and owners change holds for the turns that begin afterwards. The scenarios share one platform. */
describe('governance of models while chats run', () => {
  let platform: Platform;
  let upstream: Upstream;
  let governance: Governance;
  let recovered: () => Promise<void>;

  beforeAll(async () => {
    platform = await startPlatform({
      apps: ['api-gateway', 'admin-api', 'chat-worker'],
      env: { [KEYED_ROUTE.variable]: KEYED_ROUTE.key, MAX_OWNED_ORGS: '0' },
    });
    upstream = new Upstream(new URL(platform.env.MOCK_ROUTE_BASE_URL!).origin);
    await upstream.start();
    governance = new Governance(platform, upstream);
    // Before all others, whose calls it would cut; its turns go on while they run.
    recovered = await killedAmongCalls(governance);
  });

  sideBySide({
    'all dialects are charged to the last digit, long prompts by their tier': () => pricedInAllDialects(governance),
    'keys are stored, changed, lent and cleared, and an organization’s own goes before them': () => keysChanged(governance),
    'a model is retired, and its successor answers from the next turn on': () => modelRetired(governance),
    'a disabled route fails turns, which go on when it is enabled': () => routeDisabled(governance),
    'a route is repointed while ten turns run on it': () => routeRepointed(governance),
    'a budget stops a chat until it is raised': () => budgetReached(governance),
    'headers of the gateway grant nothing to who brings them': () => headersForged(governance),
    'a worker killed in a reserved call leaves one receipt, and no second reservation': () => recovered(),
  });

  it('leaves nothing undone, and nothing done twice', () => governance.check());

  it('tells keys to nobody but the provider', () => governance.checkSecrets());

  afterAll(async () => {
    await upstream?.stop();
    await platform?.stop();
  });
});
