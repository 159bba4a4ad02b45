import { drained, onlyWorkerKilled, oneOfTwoWorkersLost } from './crashes';
import { delegatingWorkersKilled } from './delegations';
import { postgresRestarted, redisTakenAway, suspended } from './outages';
import { sideBySide } from './scenario';

/** No work lost, none done twice, nothing stuck, whatever dies. Each scenario has processes and a database of its own. */
describe('recovery', () => {
  sideBySide({
    'the only worker killed five times among twenty turns, and a poison turn': onlyWorkerKilled,
    'one of two workers killed, and one frozen past its leases': oneOfTwoWorkersLost,
    'workers killed among parents and the children that they wait for': delegatingWorkersKilled,
    'a worker asked to end': drained,
    'Redis killed, flushed, and gone between commit and publication': redisTakenAway,
    'PostgreSQL killed and restarted under the running apps': postgresRestarted,
    'an organization suspended and let in again': suspended,
  });
});
