import type { Diagnosis, StopResult, TerminateResult } from '@aps/chats';
import type { ChatDiagnosisResponse, StopChatResponse, TerminateChatResponse } from '@aps/dtos';

const iso = (date: Date | null): string | null => date && date.toISOString();

export function toStop(result: StopResult): StopChatResponse {
  return { ...result, stop_requested_at: iso(result.stop_requested_at) };
}

export function toTerminated(result: TerminateResult): TerminateChatResponse {
  return { ...result, completed_at: iso(result.completed_at) };
}

export function toDiagnosis({ blocked_by: by, lease, ...rest }: Diagnosis): ChatDiagnosisResponse {
  return {
    ...rest,
    blocked_by: by && { ...by, since: iso(by.since) },
    lease: lease && { ...lease, expires_at: lease.expires_at.toISOString() },
  };
}
