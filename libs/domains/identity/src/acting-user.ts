import type { Caller } from '@aps/platform/database';

/** Who does something, as audit rows keep it, and on whose right it rests. */
export interface ActingUser extends Caller {
  userId: string;
  requestId?: string;
}
