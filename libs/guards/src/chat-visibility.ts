import { NIL_UUID as EVERYONE } from '@aps/entities';
import type { OrgScope } from './org-scope';

/**
 * Who sees a chat, as a condition in SQL: everyone in the organization when it is shared or no human began it, otherwise its creator
 * alone; a deleted one nobody. Child chats carry their root's creator and sharing. The column `private_to` says it of each chat; the rule
 * stands here because every domain that keeps something of chats hides it so.
 *
 * @param user SQL of the reader's id; null is the system, which sees all that is not deleted
 * @param chat alias of the table `chats`, or of one that has its chat's `private_to`; that it is of the right organization is for the caller to ask
 */
export const chatSeenBy = (user: string, chat = 'c'): string =>
  `(${chat}.private_to = '${EVERYONE}' OR ${chat}.private_to = ${user} OR (${user}::uuid IS NULL AND ${chat}.private_to IS NOT NULL))`;

/** The same for a user, as conditions that exclude each other: what each finds lies together, in the index that has `private_to`. */
export const seenByEither = (user: string, row = 'c'): [string, string] => [
  `${row}.private_to = '${EVERYONE}'`,
  `${row}.private_to = ${user}`,
];

/** Who reads, as the values of a listing: `seen_by`, or `seen` by anybody, which is for the system. */
export const readerOf = ({ actor: { userId } }: OrgScope): { seen_by?: string; seen?: true } =>
  userId === null ? { seen: true } : { seen_by: userId };
