import type { TopicEvent } from '@aps/contracts';
import {
  ProcessAgentCallDetailResponse,
  ProcessAgentCallResponse,
  ProcessLlmCallDetailResponse,
  ProcessLlmCallResponse,
  ProcessRepairCallDetailResponse,
  ProcessRepairCallResponse,
  ProcessRunDetailResponse,
  ProcessRunDiagnosisResponse,
  ProcessRunEvent,
  ProcessRunResponse,
  ProcessRunStep,
  type RunEnvelope,
} from '@aps/dtos';
import type { ProcessAgentCall, ProcessLlmCall, ProcessRepair, ProcessRun, ProcessStepRow } from '@aps/entities';
import type { Listed } from '@aps/platform/database';
import { answer, toObject, type PageStream } from '@aps/platform/http';
import type { AgentCallIndex, LlmCallIndex, RepairIndex } from '../reading/calls.queries';
import type { RunDiagnosis } from '../reviews/diagnosis.policy';

/** What of a run is computed. */
const computed = (run: ProcessRun, hideDollars: boolean) => ({
  status: run.state,
  revision: { id: run.revision_id, version: run.revision_version },
  envelope: JSON.parse(run.envelope) as RunEnvelope,
  waiting_until: run.status === 'waiting' && run.wait?.resume_at ? new Date(run.wait.resume_at).toISOString() : null,
  cost_usd: hideDollars ? null : run.cost_usd,
});

/** @param hideDollars the organization pays in credits, as below */
export const toRun = (run: ProcessRun, hideDollars: boolean): ProcessRunResponse =>
  answer(ProcessRunResponse, run, computed(run, hideDollars));

export const toRunDetail = (
  run: ProcessRun,
  steps: Listed<ProcessStepRow>,
  hideDollars: boolean,
): ProcessRunDetailResponse | PageStream<ProcessRunDetailResponse> =>
  toObject(toRun(run, hideDollars), 'steps', steps, (step) => answer(ProcessRunStep, step));

/** An event of the log tells of a run's in its data. */
export function toRunEvent({ id, at, data }: TopicEvent): ProcessRunEvent {
  const { event, step_id = null, path = null, ...metadata } = data as { event: string; step_id?: string | null; path?: string | null };
  return { id: String(id), seq: id, type: event, step_id, path, created_at: at, metadata };
}

const hiding = (hideDollars: boolean) => (hideDollars ? { cost_usd: null } : {});

export const toLlmCall = (call: LlmCallIndex, hideDollars: boolean): ProcessLlmCallResponse =>
  answer(ProcessLlmCallResponse, call, hiding(hideDollars));
export const toLlmCallDetail = (call: ProcessLlmCall, hideDollars: boolean): ProcessLlmCallDetailResponse =>
  answer(ProcessLlmCallDetailResponse, call, hiding(hideDollars));
export const toAgentCall = (call: AgentCallIndex, hideDollars: boolean): ProcessAgentCallResponse =>
  answer(ProcessAgentCallResponse, call, hiding(hideDollars));
export const toAgentCallDetail = (call: ProcessAgentCall, hideDollars: boolean): ProcessAgentCallDetailResponse =>
  answer(ProcessAgentCallDetailResponse, call, hiding(hideDollars));
export const toRepair = (repair: RepairIndex, hideDollars: boolean): ProcessRepairCallResponse =>
  answer(ProcessRepairCallResponse, repair, { ...hiding(hideDollars), payload_diff: operationsOf(repair) });
export const toRepairDetail = (repair: ProcessRepair, hideDollars: boolean): ProcessRepairCallDetailResponse =>
  answer(ProcessRepairCallDetailResponse, repair, { ...hiding(hideDollars), payload_diff: operationsOf(repair) });

const operationsOf = ({ payload_diff }: RepairIndex) => payload_diff as Record<string, unknown>[];

export const toDiagnosis = (diagnosis: RunDiagnosis): ProcessRunDiagnosisResponse => {
  const { blocked_by, lease } = diagnosis;
  return answer(ProcessRunDiagnosisResponse, diagnosis, {
    blocked_by: blocked_by && { ...blocked_by, since: blocked_by.since && blocked_by.since.toISOString() },
    lease: lease && { ...lease, expires_at: lease.expires_at.toISOString() },
  });
};
