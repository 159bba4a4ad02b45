import { User } from '@aps/entities';
import { Table, type Db } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { In } from 'typeorm';
import { ownsAddress } from './registration.policy';
import { identityConfig } from './identity.config';

const users = new Table(User);

/** What finds the row of an address; it finds none for what is no address. */
export const ofAddress = (email: string) => ({ email_canonical: canonicalEmail(email) ?? In<string>([]) });

/** The user to whom what is meant for an address may be given; null while they have not proven that it is theirs, or are shut out. */
export async function findOwner(db: Db, email: string): Promise<User | null> {
  const user = await users.find(db, ofAddress(email));
  return user && isOwner(user) && !user.deactivated_at ? user : null;
}

/** Whether a user may do what only who has their address may do, and be given what is meant for it. */
export const isOwner = (user: Pick<User, 'email_verified_at'>): boolean => ownsAddress(identityConfig.value.emailProof, user);
