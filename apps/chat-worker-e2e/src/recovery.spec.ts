import { sideBySide } from '../../api-gateway-e2e/support';
import { drained, onlyWorkerKilled, workerFrozen } from './crashes';
import { delegatingWorkersKilled } from './delegations';
import { postgresRestarted, redisTakenAway } from './outages';

/** No work lost, none done twice, nothing stuck, whatever dies. Each scenario has processes and a database of its own. */
describe('recovery', () => {
  sideBySide({
    'the only worker killed among ten turns, and by a poison turn': onlyWorkerKilled,
    'a worker frozen past its leases': workerFrozen,
    'workers killed among parents and the children that they wait for': delegatingWorkersKilled,
    'a worker asked to end': drained,
    'Redis killed, flushed, and gone between commit and publication': redisTakenAway,
    'PostgreSQL killed and restarted under the running apps': postgresRestarted,
  });
});
