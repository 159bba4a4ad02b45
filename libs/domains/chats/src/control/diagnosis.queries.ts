import { Injectable } from '@nestjs/common';
import { DomainError, notFound, type MessageFinish } from '@aps/contracts';
import type { ChatStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { standingOf, surroundings, type RunStanding } from '@aps/platform/runs';
import type { ChatError } from '../state/chat.types';
import { allowedActions, type ChatAction } from './actions.policy';
import { effectOf } from '../state/chat-state.policy';
import { agentDeletedAt, VISIBLE_CHAT } from '../state/visible-chats.sql';
import { blockedBy, nextAction, type BlockedBy, type ChatFacts, type NextAction } from './diagnosis.policy';
import { TurnQuotes } from '../turns/turn-quotes';
import { HAS_OPENING } from './retry.queries';

/** Why a chat does what it does, and where its turn stands. */
export interface Diagnosis extends RunStanding {
  state: ChatStatus;
  blocked_by: BlockedBy | null;
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
};

/** What waits behind another turn of its chat is before nobody. */
const IS_AHEAD = `w.status = 'queued' AND w.finished_at IS NULL AND EXISTS (SELECT 1 FROM chats x WHERE x.id = w.chat_id AND x.current_turn_id = w.id)`;

const FACTS = statement<Row>(`
  SELECT c.org_id, c.agent_id, ${agentDeletedAt('c.agent_id')} AS agent_deleted_at, c.status, c.pause, c.stop_reason, c.error, c.archived_at, c.created_by, c.parent_chat_id, ${HAS_OPENING} AS has_opening,
    (SELECT o.suspended_at FROM organizations o WHERE o.id = c.org_id) AS org_suspended_at,
    (SELECT max(f.finished_at) FROM turns f WHERE f.chat_id = c.id) AS last_turn_at,
    (SELECT json_build_object('turn_id', f.id, 'error', f.error, 'finish_reason', CASE f.status WHEN 'done' THEN (
       SELECT m.finish_reason FROM messages m WHERE m.turn_id = f.id AND m.role = 'assistant' ORDER BY m.seq DESC LIMIT 1) END)
     FROM turns f WHERE f.chat_id = c.id AND f.status IN ('done', 'failed', 'stopped') ORDER BY f.seq DESC LIMIT 1) AS last_turn,
    CASE WHEN t.id IS NOT NULL THEN json_build_object('status', t.status, 'parked', t.parked, 'dispatched_at', t.dispatched_at, 'lease_owner', t.lease_owner,
      'lease_expires_at', t.lease_expires_at, 'fence', t.fence::text,
      'lease_expired', q.lease_expired, 'ahead', q.ahead, 'oldest_ahead_s', q.oldest_ahead_s) END AS turn
  FROM chats c
  LEFT JOIN turns t ON t.id = c.current_turn_id AND t.status IN ('queued', 'running', 'waiting')
  CROSS JOIN ${surroundings('turns', 't', { of: 'org_id', waits: IS_AHEAD })} q
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
      ...(chat.turn ? standingOf(chat.turn) : { lease: null, queue: null }),
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
