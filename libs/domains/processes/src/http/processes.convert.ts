import {
  DeployResponse,
  PinnedToolResponse,
  ProcessResponse,
  ProcessRevisionResponse,
  ProcessRevisionSummary,
  ProcessRunSummary,
} from '@aps/dtos';
import type { ProcessRevision } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { ProcessView } from '../processes.queries';
import type { ProcessDeployment } from '../revisions/revisions.service';

export const toProcess = (process: ProcessView): ProcessResponse => {
  const { current_revision_id, current_version, current_deployed_at, last_run_id, last_run_state, last_run_at } = process;
  return answer(ProcessResponse, process, {
    current_revision:
      current_revision_id !== null && current_version !== null
        ? answer(ProcessRevisionSummary, { id: current_revision_id, version: current_version, deployed_at: current_deployed_at })
        : null,
    last_run:
      last_run_id !== null && last_run_state && last_run_at
        ? answer(ProcessRunSummary, { id: last_run_id, status: last_run_state, created_at: last_run_at })
        : null,
  });
};

export const toRevision = (revision: ProcessRevision): ProcessRevisionResponse =>
  answer(ProcessRevisionResponse, revision, {
    tool_snapshot: revision.tool_snapshot && revision.tool_snapshot.map((tool) => answer(PinnedToolResponse, tool)),
  });

export const toDeployment = (deployment: ProcessDeployment): DeployResponse =>
  answer(DeployResponse, deployment, { revision: toRevision(deployment.revision) });
