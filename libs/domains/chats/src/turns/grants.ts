import type { ToolGrants } from '@aps/tools';
import type { RunningTurn } from './turn-runner';

/** What a turn may call: the grants of the agent's sealed revision, less what its chat has switched off, with or without a decision log. Fixed at the claim. */
export const grantsOf = ({ config, claim, decisionLog }: RunningTurn): ToolGrants => ({
  ...config,
  enabled_scopes: claim.enabled_scopes,
  decision_log: decisionLog,
});
