import type { AccessOptions } from '@aps/guards';

/** `agent_id` takes an id or a slug. */
export const BY_AGENT: AccessOptions = { params: { agent_id: 'uuid_or_slug' } };

/** The same where `agent_id` is a plain string: what is neither id nor slug is not found, and not malformed. */
export const BY_PLAIN_AGENT: AccessOptions = { params: { agent_id: 'string' } };

/** `team_id` takes an id or a slug. */
export const BY_TEAM: AccessOptions = { params: { team_id: 'uuid_or_slug' } };
