import type { ToolGrants } from '@aps/tools';
import type { CallingTurn } from './turn-calls';

/** What a turn may call: the grants of the agent's sealed revision, less what its chat has switched off, with or without a decision log. Fixed at the claim. */
export const grantsOf = ({ config, claim, decisionLog }: Pick<CallingTurn, 'config' | 'claim' | 'decisionLog'>): ToolGrants => ({
  ...config,
  enabled_scopes: claim.enabled_scopes,
  decision_log: decisionLog,
});
