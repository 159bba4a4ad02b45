import { chatSeenBy } from '@aps/guards';

/**
 * A chat that the caller may open.
 *
 * The id alone is to find it. An equal sign would let a connection that plans this while there are few chats look through all of the
 * organization, or of the agent, from then on.
 */
export const visibleChat = (by: Record<'org' | 'user' | 'agent' | 'chat', string>): string =>
  `c.id = ${by.chat} AND c.org_id IS NOT DISTINCT FROM ${by.org} AND c.agent_id IS NOT DISTINCT FROM ${by.agent} AND ${chatSeenBy(by.user)}`;

/** The same by values: org, user (null = system), agent, chat. */
export const VISIBLE_CHAT = visibleChat({ org: '$1', user: '$2', agent: '$3', chat: '$4' });

/** True for a member of an organization who can sign in, null for everybody else; looked up in the same way. */
export const isMember = (by: Record<'org' | 'user', string>): string =>
  `(SELECT true FROM memberships im JOIN users iu ON iu.id = im.user_id WHERE im.org_id = ${by.org} AND im.user_id = ${by.user} AND iu.deactivated_at IS NULL)`;

/** When the agent of a chat was deleted; null while it is there. A scalar, which is looked up by its id whatever the plan was made for. */
export const agentDeletedAt = (agent: string): string => `(SELECT a.deleted_at FROM agents a WHERE a.id = ${agent})`;
