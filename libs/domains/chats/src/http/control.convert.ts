import type { TerminateResult } from '../control/close.service';
import type { Diagnosis } from '../control/diagnosis.queries';
import type { StopResult } from '../control/stop.service';
import { type ChatDiagnosisResponse, StopChatResponse, TerminateChatResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';

const iso = (date: Date | null): string | null => date && date.toISOString();

export function toStop(result: StopResult): StopChatResponse {
  return answer(StopChatResponse, result);
}

export function toTerminated(result: TerminateResult): TerminateChatResponse {
  return answer(TerminateChatResponse, result);
}

export function toDiagnosis({ blocked_by: by, lease, ...rest }: Diagnosis): ChatDiagnosisResponse {
  return {
    ...rest,
    blocked_by: by && { ...by, since: iso(by.since) },
    lease: lease && { ...lease, expires_at: lease.expires_at.toISOString() },
  };
}
