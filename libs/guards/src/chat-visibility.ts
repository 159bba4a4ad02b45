/**
 * Who sees a chat, as a condition in SQL: everyone in the organization when it is shared or no human began it, otherwise its creator
 * alone; a deleted one nobody. Child chats carry their root's creator and sharing. It stands here because every domain that keeps
 * something of chats hides it by this rule.
 *
 * @param user SQL of the reader's id; null is the system, which sees all that is not deleted
 * @param chat alias of the table `chats`; that it is of the right organization is for the caller to ask
 */
export const chatSeenBy = (user: string, chat = 'c'): string =>
  `(${chat}.deleted_at IS NULL AND (${chat}.shared OR ${chat}.created_by IS NULL OR ${chat}.created_by = ${user} OR ${user}::uuid IS NULL))`;
