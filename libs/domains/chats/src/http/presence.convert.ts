import type { Viewer } from '../presence/presence.service';
import { EXPIRES_S, HEARTBEAT_S } from '../presence/presence.store';
import type { ChatPresenceResponse } from '@aps/dtos';

export function toPresence(viewers: Viewer[]): ChatPresenceResponse {
  return {
    viewers: viewers.map((viewer) => ({ ...viewer, last_seen_at: viewer.last_seen_at.toISOString() })),
    heartbeat_interval_s: HEARTBEAT_S,
    expires_in_s: EXPIRES_S,
  };
}
