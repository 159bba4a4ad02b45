import { Injectable } from '@nestjs/common';
import { DomainError, notFound, type MessageFinish } from '@aps/contracts';
import type { ChatStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import type { ChatError } from '../state/chat.types';
import { allowedActions, type ChatAction } from './actions.policy';
import { effectOf } from '../state/chat-state.policy';
import { agentDeletedAt, VISIBLE_CHAT } from '../state/visible-chats.sql';
import { blockedBy, nextAction, type BlockedBy, type ChatFacts, type NextAction } from './diagnosis.policy';
import { TurnQuotes } from '../turns/turn-quotes';
import { HAS_OPENING } from './retry.queries';

export interface Diagnosis {
  state: ChatStatus;
  blocked_by: BlockedBy | null;
  /** Who runs the turn. */
  lease: { worker: string | null; expires_at: Date; fence: string } | null;
  /** Turns of the organization that were dispatched before this one and have not begun. */
  queue: { position: number; oldest_ahead_s: number } | null;
  /** The newest turn that ran and is over: why its answer ended, and how it failed. */
  last_turn: { turn_id: string; finish_reason: MessageFinish | null; error: ChatError | null } | null;
  next_action: NextAction | null;
  allowed_actions: ChatAction[];
}

type Row = ChatFacts & {
  created_by: string | null;
  parent_chat_id: string | null;
  has_opening: boolean;
  last_turn: Diagnosis['last_turn'];
  ahead: number;
  oldest_ahead_s: number | null;
};

const FACTS = statement<Row>(`
  SELECT c.org_id, c.agent_id, ${agentDeletedAt('c.agent_id')} AS agent_deleted_at, c.status, c.pause, c.stop_reason, c.error, c.archived_at, c.created_by, c.parent_chat_id, ${HAS_OPENING} AS has_opening,
    (SELECT o.suspended_at FROM organizations o WHERE o.id = c.org_id) AS org_suspended_at,
    (SELECT max(f.finished_at) FROM turns f WHERE f.chat_id = c.id) AS last_turn_at,
    (SELECT json_build_object('turn_id', f.id, 'error', f.error, 'finish_reason', CASE f.status WHEN 'done' THEN (
       SELECT m.finish_reason FROM messages m WHERE m.turn_id = f.id AND m.role = 'assistant' ORDER BY m.seq DESC LIMIT 1) END)
     FROM turns f WHERE f.chat_id = c.id AND f.status IN ('done', 'failed', 'stopped') ORDER BY f.seq DESC LIMIT 1) AS last_turn,
    CASE WHEN t.id IS NOT NULL THEN json_build_object('status', t.status, 'parked', t.parked, 'dispatched_at', t.dispatched_at, 'lease_owner', t.lease_owner,
      'lease_expires_at', t.lease_expires_at, 'lease_expired', t.lease_expires_at < now(), 'fence', t.fence::text) END AS turn,
    q.ahead, q.oldest_ahead_s
  FROM chats c
  LEFT JOIN turns t ON t.id = c.current_turn_id AND t.status IN ('queued', 'running', 'waiting')
  LEFT JOIN LATERAL (
    SELECT count(*)::int AS ahead, extract(epoch FROM now() - min(w.dispatched_at))::float8 AS oldest_ahead_s
    FROM turns w JOIN chats x ON x.current_turn_id = w.id
    WHERE t.status = 'queued' AND w.org_id = c.org_id AND w.status = 'queued' AND w.finished_at IS NULL AND w.dispatched_at < t.dispatched_at
  ) q ON true
  WHERE ${VISIBLE_CHAT}`);

/** Tells why a chat does what it does. Asks no queue and no worker, so it works while they do not. */
@Injectable()
export class DiagnosisQueries {
  constructor(
    private readonly db: Database,
    private readonly quotes: TurnQuotes,
  ) {}

  /** @throws DomainError 404 */
  async of(scope: OrgScope, agentId: string, chatId: string): Promise<Diagnosis> {
    const [row] = await this.db.query(FACTS, [scope.orgId, scope.actor.userId, agentId, chatId]);
    if (!row) throw notFound('Chat');
    const goesOn = effectOf('continue', row) === 'resume' && row.agent_deleted_at === null;
    const blocker = goesOn ? await this.quotes.blockerOf(scope, agentId, chatId).catch(unlessAway) : null;
    const { turn } = row;
    const chat: ChatFacts = {
      ...row,
      // JSON has no times.
      turn: turn && {
        ...turn,
        dispatched_at: new Date(turn.dispatched_at),
        lease_expires_at: turn.lease_expires_at && new Date(turn.lease_expires_at),
      },
    };
    const by = blockedBy(chat);
    const allowed = allowedActions(chat, {
      created_by: row.created_by,
      parent_chat_id: row.parent_chat_id,
      userId: scope.actor.userId,
      blocked: blocker !== null,
      has_opening: row.has_opening,
      agent_deleted: row.agent_deleted_at !== null,
    });
    return {
      state: chat.status,
      blocked_by: by,
      lease:
        chat.turn?.status === 'running' && chat.turn.lease_expires_at
          ? { worker: chat.turn.lease_owner, expires_at: chat.turn.lease_expires_at, fence: chat.turn.fence }
          : null,
      queue: turn?.status === 'queued' ? { position: row.ahead, oldest_ahead_s: Math.max(0, Math.round(row.oldest_ahead_s ?? 0)) } : null,
      last_turn: row.last_turn,
      next_action: nextAction(chat, by, blocker, allowed),
      allowed_actions: allowed,
    };
  }
}

/** What keeps a chat's next call may depend on its files; all else that is told of it is known without their storage. */
function unlessAway(error: unknown): null {
  if (error instanceof DomainError && error.status === 503) return null;
  throw error;
}
