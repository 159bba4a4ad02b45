import type { RunLeases } from '@aps/platform/runs';

/**
 * Has the worker be silent of a run from now on, as one that stands still. A heartbeat that comes between the end of its lease and the claim
 * of another worker would renew that, and no other got it.
 */
export function standStill(leases: RunLeases, runId: string): void {
  const { held } = leases as unknown as { held: Map<string, { since: number }> };
  const lease = held.get(runId);
  // As before its claim has committed: no heartbeat sees it.
  if (lease) lease.since = Infinity;
}
