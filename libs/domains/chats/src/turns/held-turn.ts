import type { HoldingWork } from '@aps/inference';
import type { OwnedTurn } from './running-turn';

/** A turn calls models one at a time, be it for an answer or a summary. Nothing is reserved while its claim may still fail. */
export const heldTurn = ({ id, org_id, chat_id, agent_id, committed }: OwnedTurn, feature: string): HoldingWork => ({
  orgId: org_id,
  chatId: chat_id,
  agentId: agent_id,
  name: `turn:${id}`,
  feature,
  after: committed,
});
