import { AsyncLocalStorage } from 'node:async_hooks';
import type { Tx } from './database';

/** Throws when what a unit of work is done for does not hold any more; the work then rolls back. */
export type CommitCheck = (tx: Tx) => Promise<void>;

interface Held {
  check?: CommitCheck;
}

const current = new AsyncLocalStorage<Held>();

/**
 * Begins work whose units a check will be asked for. There is none until {@link checkAtCommit} names it.
 *
 * @returns ends that: what the work has left running (timers, connections that it was the first to need) goes on for everybody
 */
export function withCommitCheck(work: () => void): () => void {
  const held: Held = {};
  current.run(held, work);
  return () => {
    held.check = undefined;
  };
}

/** From now on every unit of work of this request asks `check` before it commits. */
export function checkAtCommit(check: CommitCheck): void {
  const held = current.getStore();
  if (held) held.check = check;
}

export const commitCheck = (): CommitCheck | undefined => current.getStore()?.check;
