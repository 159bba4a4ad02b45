import type { Breakdown } from '../reading/cost.policy';
import type { ChatCosts } from '../reading/cost.queries';
import type { ChatCostBreakdownResponse } from '@aps/dtos';

export function toCostBreakdown({ chat_id, billing_unit, descendants: { chats, ...below }, ...own }: ChatCosts): ChatCostBreakdownResponse {
  const hideDollars = billing_unit === 'credits';
  return { chat_id, billing_unit, ...parts(own, hideDollars), descendants: { chats, ...parts(below, hideDollars) } };
}

function parts(costs: Breakdown, hideDollars: boolean) {
  const shown = <T extends { cost_usd: string }>(cost: T) => ({ ...cost, cost_usd: hideDollars ? null : cost.cost_usd });
  const { input, cached_input, cache_write, output, reasoning } = costs.by_token_type;
  return {
    total_cost_usd: hideDollars ? null : costs.total_cost_usd,
    total_credits: costs.total_credits,
    by_token_type: {
      input: shown(input),
      cached_input: shown(cached_input),
      cache_write: shown(cache_write),
      output: shown(output),
      reasoning: shown(reasoning),
    },
    by_model: costs.by_model.map(shown),
    rounding: costs.rounding,
  };
}
