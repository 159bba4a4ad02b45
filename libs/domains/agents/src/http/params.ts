import type { AccessOptions } from '@aps/guards';

/** `agent_id` takes an id or a slug. */
export const BY_AGENT: AccessOptions = { params: { agent_id: 'uuid_or_slug' } };
