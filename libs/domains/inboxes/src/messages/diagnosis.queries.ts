import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DiagnosisQueries, type Diagnosis } from '@aps/chats';
import { notFound } from '@aps/contracts';
import { Inbox, type HandlerKind, type HoldReason, type InboxMessage } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Holds } from '@aps/inference';
import { Database, OrgTable, statement } from '@aps/platform/database';
import { standingOf, surroundings, type RunStanding, type RunSurroundings } from '@aps/platform/runs';
import { RunReviews, type RunDiagnosis } from '@aps/processes';
import { Handlers } from '../handlers';
import { SPIKE } from '../pipeline/evaluation.sql';
import { callsFor, creditsFor, isLimit } from '../pipeline/release-capacity';
import { evaluationOf, heldBy, ofChat, ofRun, replyOf, type Blocked } from './diagnosis.policy';
import { allowedActions, type MessageAction } from './message-actions.policy';

/** Why a message does what it does; the shape of a chat's, which it has, or that of its run, once it was handed to one. */
export interface MessageDiagnosis extends Blocked, RunStanding, Pick<Diagnosis, 'last_turn'> {
  state: InboxMessage['state'];
  allowed_actions: MessageAction[];
}

type Facts = Pick<
  InboxMessage,
  | ('id' | 'inbox_id' | 'state' | 'status' | 'hold_reason' | 'decided_by' | 'sender_key' | 'raw_available' | 'terminated_at' | 'wait')
  | ('dispatched_at' | 'finished_at' | 'updated_at' | 'lease_owner' | 'lease_expires_at' | 'fence')
> &
  Pick<RunSurroundings, 'ahead' | 'oldest_ahead_s'> & {
    org_suspended_at: Date | null;
    reply: { created_at: string; due_at: string } | null;
    chat_id: string | null;
    agent_id: string | null;
    run_id: string | null;
    process_id: string | null;
  };

/** The beginning of a statement that names rows, and those that do them again, as `again`; the newest says how it goes. All are SQL. */
const doneAgain = (table: string, source: string, id: string) =>
  `WITH RECURSIVE again AS (SELECT ${id} AS id UNION SELECT n.id FROM again JOIN ${table} n ON n.${source} = again.id)`;

const FACTS = statement<Facts>(`
  SELECT m.id, m.inbox_id, m.state, m.status, m.hold_reason, m.decided_by, m.sender_key, m.raw_available AND m.raw_expires_at > now() AS raw_available, m.terminated_at, m.wait,
    m.dispatched_at, m.finished_at, m.updated_at, m.lease_owner, m.lease_expires_at, m.fence, o.suspended_at AS org_suspended_at, q.ahead, q.oldest_ahead_s,
    (SELECT CASE a.state WHEN 'armed' THEN jsonb_build_object('created_at', a.created_at, 'due_at', a.due_at) END FROM inbox_replies a WHERE a.message_id = m.id ORDER BY a.id DESC LIMIT 1) AS reply,
    c.id AS chat_id, c.agent_id, r.id AS run_id, r.process_id
  FROM inbox_messages m JOIN organizations o ON o.id = m.org_id
  LEFT JOIN LATERAL (
    ${doneAgain('chats', 'source_chat_id', `(m.dispatched->>'chat_id')::uuid`)} SELECT x.id, x.agent_id FROM again JOIN chats x ON x.id = again.id WHERE x.org_id = m.org_id AND x.deleted_at IS NULL ORDER BY x.id DESC LIMIT 1
  ) c ON true
  LEFT JOIN LATERAL (
    ${doneAgain('process_runs', 'restarted_from', `(m.dispatched->>'run_id')::uuid`)} SELECT x.id, x.process_id FROM again JOIN process_runs x ON x.id = again.id JOIN processes p ON p.id = x.process_id AND p.deleted_at IS NULL WHERE x.org_id = m.org_id ORDER BY x.id DESC LIMIT 1
  ) r ON true
  CROSS JOIN ${surroundings('inbox_messages', 'm', { of: 'inbox_id', waits: `w.state = 'evaluating' AND w.status = 'queued'` })} q
  WHERE m.org_id = $1 AND m.inbox_id = $2 AND m.id = $3`);

/** When the oldest of so many that have passed in a window leaves it; null where there are fewer. */
const opens = (rows: string, window: string, places: string) =>
  `(SELECT passed_at FROM inbox_messages WHERE ${rows} AND passed_at > now() - interval '${window}' ORDER BY passed_at DESC OFFSET greatest(${places}, 1) - 1 LIMIT 1) + interval '${window}'`;
const OF_SENDER = 'inbox_id = $1 AND sender_key = $2';
/** Null where a window is open, or does not count. Values: inbox, sender, and how many it takes a minute and an hour. */
const SENDER_OPENS = statement<{ at: Date | null }>(`
  SELECT greatest(CASE WHEN $3::int IS NOT NULL THEN ${opens(OF_SENDER, '1 minute', '$3::int')} END, CASE WHEN $4::int IS NOT NULL THEN ${opens(OF_SENDER, '1 hour', '$4::int')} END) AS at`);
const SPIKE_ENDS = statement<{ at: Date | null }>(`SELECT ${opens('inbox_id = $1', '10 minutes', '$2::int')} AS at`);
const TODAY = statement<{ of: string; what: 'messages' | 'classifier_calls'; n: number }>(
  `SELECT of, what, n FROM intake_counts WHERE org_id = $1 AND of IN ('', $2) AND day = (now() AT TIME ZONE 'UTC')::date`,
);

/** Tells why a message does what it does. Asks the database alone, so it works while the queues do not. */
@Injectable()
export class MessageDiagnoses {
  private readonly inboxes = new OrgTable(Inbox);

  constructor(
    private readonly db: Database,
    private readonly handlers: Handlers,
    private readonly chats: DiagnosisQueries,
    private readonly runs: RunReviews,
    private readonly entitlements: Entitlements,
    private readonly holds: Holds,
  ) {}

  /** @throws DomainError `not_found` */
  async of(scope: OrgScope, inboxId: string, id: string): Promise<MessageDiagnosis> {
    const inbox = await this.inboxes.get(this.db, scope, inboxId);
    const [m] = await this.db.query(FACTS, [scope.orgId, inboxId, id]);
    if (!m) throw notFound('Message');
    const chat = m.state === 'accepted' && m.chat_id && m.agent_id ? await this.chats.of(scope, m.agent_id, m.chat_id) : null;
    const run = m.state === 'accepted' && m.run_id && m.process_id ? await this.runs.diagnose(scope, m.process_id, m.run_id) : null;
    const { lease, queue } = standingOf(m);
    return {
      state: m.state,
      ...(await this.blocked(scope, inbox, m, chat, run)),
      lease: lease ?? (chat ?? run)?.lease ?? null,
      queue: queue ?? (chat ?? run)?.queue ?? null,
      last_turn: chat?.last_turn ?? null,
      allowed_actions: allowedActions(m, scope.isAdmin),
    };
  }

  private async blocked(scope: OrgScope, inbox: Inbox, m: Facts, chat: Diagnosis | null, run: RunDiagnosis | null): Promise<Blocked> {
    if (m.state === 'evaluating') return evaluationOf(m.dispatched_at, m.lease_owner, m.wait);
    if (m.state === 'held' && m.hold_reason) {
      const over = await this.over(scope, inbox, m, m.hold_reason);
      const { hold_reason, raw_available } = m;
      const ref = hold_reason === 'org_suspended' ? scope.orgId : m.decided_by;
      const until = over instanceof Date ? over : null;
      const told = { hold_reason, raw_available, since: m.finished_at ?? m.updated_at, ref, until, lifted: over === true };
      return heldBy({ ...told, misfit: m.wait?.held_for?.refused === 'misfit' }, this.db.now());
    }
    // JSON has no times.
    if (m.reply) return replyOf({ created_at: new Date(m.reply.created_at), due_at: new Date(m.reply.due_at) });
    if (chat) return ofChat(chat);
    if (run) return ofRun(run);
    return { blocked_by: null, next_action: m.state === 'failed' && m.raw_available ? 'replay' : null };
  }

  /** Whether what a message is held for is over, or when it is by itself; false where nobody can tell. */
  private async over(scope: OrgScope, inbox: Inbox, m: Facts, reason: HoldReason): Promise<boolean | Date> {
    const { orgId } = scope;
    switch (reason) {
      case 'rate_sender': {
        const limits = [inbox.rate_limit_per_sender_per_minute, inbox.rate_limit_per_sender_per_hour];
        return (await this.db.query(SENDER_OPENS, [inbox.id, m.sender_key, ...limits]))[0].at ?? true;
      }
      case 'spike': {
        if (!inbox.spike_protection_enabled) return true;
        const [{ room }] = await this.db.query(SPIKE, [inbox.id]);
        return (await this.db.query(SPIKE_ENDS, [inbox.id, room]))[0].at ?? true;
      }
      case 'rate_inbox':
        return this.ofDay(orgId, inbox.id, 'messages', { [inbox.id]: inbox.rate_limit_messages_per_day });
      case 'plan_intake':
        return this.ofDay(orgId, inbox.id, 'messages', { '': (await this.entitlements.of(orgId)).intake_messages_per_day });
      case 'classifier_quota': {
        const plan = await this.entitlements.of(orgId);
        const limits = { [inbox.id]: inbox.rate_limit_classifier_calls_per_day, '': plan.intake_classifier_calls_per_day };
        return this.ofDay(orgId, inbox.id, 'classifier_calls', limits, callsFor(m.wait?.held_for));
      }
      case 'credits_exhausted':
        return Number((await this.holds.creditsFree(orgId)) ?? Infinity) >= creditsFor(m.wait?.held_for);
      case 'inbox_paused':
        return inbox.status === 'active';
      case 'org_suspended':
        return m.org_suspended_at === null;
      case 'handler_missing': {
        const { refused, target } = m.wait?.held_for ?? {};
        // Whether it fits now is known when it is tried.
        return refused !== 'misfit' && this.hasHandler(scope, target ?? { kind: inbox.target_kind, id: inbox.target_id });
      }
      default:
        return false;
    }
  }

  /** Whether a day has room for so many more, or when one has; false where none ever has. */
  private async ofDay(
    orgId: string,
    inboxId: string,
    what: 'messages' | 'classifier_calls',
    limits: Record<string, number | null>,
    needs = 1,
  ): Promise<boolean | Date> {
    const today = await this.db.query(TODAY, [orgId, inboxId]);
    const used = (of: string) => today.find((row) => row.what === what && row.of === of)?.n ?? 0;
    const fits = (isUsed: (of: string) => number) =>
      Object.entries(limits).every(([of, limit]) => !isLimit(limit) || limit - isUsed(of) >= needs);
    return fits(used) || (fits(() => 0) && midnightAfter(this.db.now()));
  }

  private hasHandler(scope: OrgScope, { kind, id }: { kind: HandlerKind | null; id: string | null }): Promise<boolean> {
    return kind && id ? this.db.transaction(scope, (tx) => this.handlers.isReady(tx, scope, { kind, id })) : Promise.resolve(false);
  }
}

/** Of UTC. */
const midnightAfter = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1));
