import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** This process among all others: under this name it owns what it has claimed. One that restarts is another. */
export class ProcessIdentity {
  readonly id = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
  /** Begins nothing new, and ends what it has. The worker's row is the truth; this is what was last heard of it. */
  draining = false;

  /** @param app as its definition calls it */
  constructor(readonly app: string) {}
}
