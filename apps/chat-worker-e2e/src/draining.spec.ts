import { sideBySide } from '../../api-gateway-e2e/support';
import { drainedBeforeItEnds, oneOfTwoWorkersDrained } from './draining';

/** What a worker that is told to begin nothing new has, ends here and once; what waits is somebody else's. */
describe('draining', () => {
  sideBySide({
    'one of two workers, then both': oneOfTwoWorkersDrained,
    'a worker that is about to end': drainedBeforeItEnds,
  });
});
