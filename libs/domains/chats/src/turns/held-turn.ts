import type { HoldingWork } from '@aps/inference';
import type { RunningTurn } from './running-turn';

/** A turn calls models one at a time, be it for an answer or a summary. Nothing is reserved while its claim may still fail. */
export const heldTurn = ({ claim, budget }: Pick<RunningTurn, 'claim' | 'budget'>, feature: string): HoldingWork => ({
  orgId: claim.org_id,
  chatId: claim.chat_id,
  agentId: claim.agent_id,
  name: `turn:${claim.id}`,
  feature,
  after: claim.committed,
  budget,
  unpricedAllowed: claim.unpriced_allowed,
});
