import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { DomainError } from '@aps/contracts';
import { hash, verify, type Options } from '@node-rs/argon2';

/** argon2id with OWASP's parameters: 19 MiB, two passes, one lane. The value 2 names argon2id; its enum is gone at run time. */
const PARAMETERS: Options = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const CURRENT_FORM = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;

/**
 * Hashes at the same time. They run on the thread pool that DNS and files use as well; a storm of log-ins may slow log-ins, but
 * nothing else.
 */
const AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));
const MAX_WAITING = 256;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MAX_WAITING)
      throw new DomainError('service_unavailable', 'Too many people are signing in right now. Try again.', { retryAfterS: 5 });
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running++;
  }
  try {
    return await work();
  } finally {
    // The place goes straight to who has waited longest, or back.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/**
 * @returns a PHC string
 * @throws DomainError `service_unavailable` when too many are waiting
 */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, PARAMETERS));
}

let dummy: Promise<string> | undefined;

/**
 * Compares a password with a stored hash. Without a hash (unknown user, or one who signs in elsewhere) the same work is done and
 * the answer is no, so the time tells nothing about who exists.
 *
 * @throws DomainError `service_unavailable` when too many are waiting
 */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  // Made by whichever call comes first, known user or not.
  dummy ??= hash(randomBytes(18).toString('base64url'), PARAMETERS);
  const instead = await dummy;
  const matches = await inTurn(() => verify(stored ?? instead, password).catch(() => false));
  return stored ? matches : false;
}

/** Whether a hash was made with weaker parameters than today's; then the next successful log-in makes a new one. */
export function needsRehash(stored: string): boolean {
  return !CURRENT_FORM.test(stored);
}
