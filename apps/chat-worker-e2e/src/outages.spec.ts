import { postgresRestarted, redisTakenAway, suspended } from './outages';
import { sideBySide } from './scenario';

describe('what the platform stands on, taken away', () => {
  sideBySide(
    {
      'Redis killed, flushed, and gone between commit and publication': redisTakenAway,
      'PostgreSQL killed and restarted under the running apps': postgresRestarted,
      'an organization suspended and let in again': suspended,
    },
    240_000,
  );
});
