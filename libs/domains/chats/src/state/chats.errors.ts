import { DomainError } from '@aps/contracts';

/** Of whatever would have a chat of a deleted agent run. */
export const agentDeleted = (): DomainError =>
  new DomainError('agent_deleted', 'The agent of this chat was deleted; the chat can only be read.');
