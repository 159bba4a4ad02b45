import { drained, onlyWorkerKilled, oneOfTwoWorkersLost } from './crashes';
import { sideBySide } from './scenario';

describe('workers that end', () => {
  sideBySide(
    {
      'killed five times among twenty turns, and a poison turn': onlyWorkerKilled,
      'one of two killed, and one frozen past its leases': oneOfTwoWorkersLost,
      'asked to end': drained,
    },
    240_000,
  );
});
