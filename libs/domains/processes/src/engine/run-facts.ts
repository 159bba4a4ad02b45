import type { ProcessRun } from '@aps/entities';
import type { RunFacts } from './interpreter';

type Known = Pick<
  ProcessRun,
  'id' | 'process_id' | 'revision_id' | 'revision_version' | 'label' | 'envelope' | 'started_at' | 'created_at'
>;

/** What expressions of a run see of it. */
export const runFactsOf = (run: Known): RunFacts => ({
  envelope: JSON.parse(run.envelope) as Record<string, unknown>,
  run: { id: run.id, process_id: run.process_id, revision_id: run.revision_id, version: run.revision_version, label: run.label },
  started_at: run.started_at ?? run.created_at,
});
