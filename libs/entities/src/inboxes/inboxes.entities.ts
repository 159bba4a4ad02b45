import { Check, Column, DeleteDateColumn, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Organization } from '../orgs/orgs.entities';
import { Project } from '../projects/projects.entities';
import type { FileReference } from '../files/files.entities';
import { DurableRun, type RunWait } from '../platform/durable-run.entity';
import { DatedOrgRow, StampedOrgRow } from '../rows';

export type HandlerKind = 'agent' | 'process';
export type ChannelKind = 'email' | 'webhook';

/** How an inbox answers. What else its settings hold is kept as it was sent. */
export interface InboxSettings {
  reply?: 'off' | 'auto' | 'tool';
  /** Seconds from the end of a turn until its text is mailed. */
  reply_delay_s?: number;
  from_name?: string | null;
  [key: string]: unknown;
}

/** Takes mail and webhooks in, and hands what its rules let through to an agent or a process. */
@Entity('inboxes')
@Unique('inboxes_org_id', ['org_id', 'id'])
@Index('inboxes_slug', ['org_id', 'slug'], { unique: true, where: 'deleted_at IS NULL' })
@Index('inboxes_org', ['org_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@Index('inboxes_project', ['org_id', 'project_id', 'created_at', 'id'], { where: 'deleted_at IS NULL' })
@ForeignKey(() => Project, ['org_id', 'project_id'], ['org_id', 'id'])
@Index('inboxes_by_target_kind', ['org_id', 'target_kind', 'created_at', 'id'], { where: 'deleted_at IS NULL AND target_kind IS NOT NULL' })
@Index('inboxes_target', ['org_id', 'target_kind', 'target_id', 'created_at', 'id'], {
  where: 'deleted_at IS NULL AND target_id IS NOT NULL',
})
@Check('inboxes_status', `status IN ('active', 'paused', 'disabled')`)
@Check('inboxes_target_kind', `target_kind IN ('agent', 'process') AND (target_kind IS NULL) = (target_id IS NULL)`)
export class Inbox {
  /** `inb_` and a ULID. */
  @PrimaryColumn('text') id: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text', { default: 'active' }) status: 'active' | 'paused' | 'disabled';
  @Column('uuid', { nullable: true }) project_id: string | null;
  /** Who gets what no rule sends elsewhere. */
  @Column('text', { nullable: true }) target_kind: HandlerKind | null;
  @Column('text', { nullable: true }) target_id: string | null;
  @Column('jsonb', { default: () => "'{}'" }) settings: InboxSettings;
  @Column('int', { default: 30 }) retention_days: number;
  @Column('int', { nullable: true }) rate_limit_messages_per_day: number | null;
  @Column('int', { nullable: true }) rate_limit_classifier_calls_per_day: number | null;
  @Column('int', { nullable: true }) rate_limit_per_sender_per_hour: number | null;
  @Column('int', { nullable: true }) rate_limit_per_sender_per_minute: number | null;
  @Column('boolean', { default: false }) spike_protection_enabled: boolean;
  /** The revision that is deployed; without one everything is accepted. */
  @Column('uuid', { nullable: true }) current_revision_id: string | null;
  /** Of the newest revision there ever was: discarding one frees no number. */
  @Column('int', { default: 0 }) last_version: number;
  /** Of the newest event of its topic. */
  @Column('int', { default: 0 }) event_seq: number;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** What a channel is set to. What is not known is kept as it was sent. */
export interface ChannelConfig {
  /** Of mail: its address has no code. */
  public?: boolean;
  sender_path?: string;
  subject_path?: string;
  body_path?: string;
  dedupe_path?: string;
  thread_path?: string;
  /** Its secret is kept apart, sealed. */
  signature?: { scheme: 'none' | 'standard_webhooks' | 'github' | 'stripe' | 'slack' | 'hmac_sha256_hex'; header?: string };
  [key: string]: unknown;
}

/** A way into an inbox: an address of mail, or a secret URL. */
@Entity('inbox_channels')
@Unique('inbox_channels_org_id', ['org_id', 'id'])
@Unique('inbox_channels_address', ['org_id', 'local_part'])
@Unique('inbox_channels_token', ['token_hash'])
@Index('inbox_channels_inbox', ['inbox_id', 'created_at', 'id'])
@ForeignKey(() => Inbox, ['org_id', 'inbox_id'], ['org_id', 'id'])
@Check('inbox_channels_kind', `kind IN ('email', 'webhook') AND (kind = 'webhook') = (token_hash IS NOT NULL)`)
export class InboxChannel extends StampedOrgRow {
  @Column('text') inbox_id: string;
  @Column('text') kind: ChannelKind;
  @Column('boolean', { default: true }) enabled: boolean;
  @Column('jsonb', { default: () => "'{}'" }) config: ChannelConfig;
  /** Of mail: six characters, in the address unless the channel is public. */
  @Column('text', { nullable: true }) code: string | null;
  /** Of mail: what stands before the `@`; the domain is the organization's. Null once its inbox is deleted. */
  @Column('text', { nullable: true }) local_part: string | null;
  /** Of a webhook: hex of SHA-256 of what its URL ends with, by which it is found, and that itself, sealed. */
  @Column('text', { nullable: true }) token_hash: string | null;
  @Column('text', { nullable: true }) token_sealed: string | null;
  /** What its senders sign with, sealed. */
  @Column('text', { nullable: true }) signature_secret_sealed: string | null;
}

/** A rule set of an inbox. Only one that is a draft is ever changed. */
@Entity('inbox_revisions')
@Unique('inbox_revisions_org_id', ['org_id', 'id'])
@Unique('inbox_revisions_version', ['inbox_id', 'version'])
@Index('inbox_revisions_deployed', ['inbox_id'], { unique: true, where: `status = 'deployed'` })
@ForeignKey(() => Inbox, ['org_id', 'inbox_id'], ['org_id', 'id'])
@Check('inbox_revisions_status', `status IN ('draft', 'deployed', 'archived', 'superseded')`)
export class InboxRevision extends StampedOrgRow {
  @Column('text') inbox_id: string;
  @Column('int') version: number;
  @Column('text', { default: 'draft' }) status: 'draft' | 'deployed' | 'archived' | 'superseded';
  /** SHA-256 of the definition as canonical JSON, in hex. */
  @Column('text') hash: string;
  @Column('jsonb') definition: Record<string, unknown>;
  @Column('uuid', { nullable: true }) created_by: string | null;
  @Column('uuid', { nullable: true }) deployed_by: string | null;
  @Column('timestamptz', { nullable: true }) deployed_at: Date | null;
}

export type MessageState = 'evaluating' | 'accepted' | 'dropped' | 'held' | 'failed';
export type MessageVerdict = 'accepted' | 'dropped' | 'quarantined';
/** Why a message is held. All but the first three, the handler's and the classifier's end by themselves. */
export type HoldReason =
  | 'quarantined'
  | 'stage_hold'
  | 'low_confidence'
  | 'classifier_error'
  | 'handler_missing'
  | 'rate_sender'
  | 'rate_inbox'
  | 'plan_intake'
  | 'classifier_quota'
  | 'credits_exhausted'
  | 'queue_full'
  | 'inbox_paused'
  | 'org_suspended'
  | 'spike';

/** What was made of a message. */
export type Dispatched = { kind: 'agent'; chat_id: string } | { kind: 'process'; run_id: string };

/** What has to be over before a held message goes on by itself, where its reason alone does not say that. */
export interface HeldFor {
  /** Of one that was let go. */
  reason?: HoldReason;
  /** The process that takes no more runs of a key, and the key. */
  process_id?: string;
  concurrency_key?: string;
  /** Why nobody took it, where it has somebody to go to, and to whom, where that was not the inbox's own target. */
  refused?: 'no_agent' | 'no_process' | 'misfit';
  target?: { kind: HandlerKind; id: string };
  /** A human has released it: its target is who that human has said, and it goes there unjudged when there is room. */
  by_hand?: true;
  /** What the calls of its classifiers may cost, up to that which there were too few credits for: evaluated anew, it makes all of them again. */
  credits?: string;
  /** How many calls that are, up to the one that the day had no room for. */
  calls?: number;
}

/** What a message waits for, or its evaluation is to know. */
export interface EvaluationWait extends RunWait {
  /** How often its handler could not be begun. */
  tries?: number;
  /** How often it was put off for an earlier mail of its thread. */
  behind?: number;
  /** Of a release: whom it goes to instead of the inbox's target. */
  target?: { kind: HandlerKind; id: string } | null;
  /** Of one that is held, or was until it was let go by itself. */
  held_for?: HeldFor;
}

/**
 * A message, and its evaluation as a durable run: its status says whether that is under way, its state what came of it. What it says stands in
 * {@link InboxEnvelope}.
 */
@Entity('inbox_messages')
@Unique('inbox_messages_org_id', ['org_id', 'id'])
@Unique('inbox_messages_dedupe', ['channel_id', 'dedupe_key'])
@Index('inbox_messages_owned', ['org_id'], { where: 'lease_owner IS NOT NULL' })
@Index('inbox_messages_waiting', ['org_id'], { where: `status = 'waiting' AND finished_at IS NULL` })
@Index('inbox_messages_parked', ['org_id', 'dispatched_at'], { where: 'parked' })
@Index('inbox_messages_inbox', ['inbox_id', 'received_at', 'id', 'org_id'])
@Index('inbox_messages_by_state', ['inbox_id', 'state', 'received_at', 'id', 'org_id'])
@Index('inbox_messages_by_verdict', ['inbox_id', 'verdict', 'received_at', 'id'], { where: 'verdict IS NOT NULL' })
@Index('inbox_messages_by_channel', ['inbox_id', 'channel_kind', 'received_at', 'id'])
@Index('inbox_messages_sender', ['inbox_id', 'sender_key', 'passed_at'], { where: 'passed_at IS NOT NULL' })
@Index('inbox_messages_passed', ['org_id', 'passed_at'], { where: 'passed_at IS NOT NULL' })
@Index('inbox_messages_rates', ['inbox_id', 'passed_at'], { where: 'passed_at IS NOT NULL' })
@Index('inbox_messages_held', ['inbox_id', 'hold_reason', 'received_at', 'id'], { where: `state = 'held' AND raw_available` })
@Index('inbox_messages_held_of_sender', ['inbox_id', 'sender_key', 'received_at', 'id'], {
  where: `state = 'held' AND hold_reason = 'rate_sender' AND raw_available`,
})
@Index('inbox_messages_chat', ['chat_message_id'], { where: 'chat_message_id IS NOT NULL' })
@Index('inbox_messages_mail', ['inbox_id', 'message_ref', 'received_at'], {
  where: `message_ref IS NOT NULL AND dispatched->>'kind' = 'agent'`,
})
@Index('inbox_messages_expiring', ['raw_expires_at'], { where: 'raw_available' })
@ForeignKey(() => Inbox, ['org_id', 'inbox_id'], ['org_id', 'id'])
@Check('inbox_messages_status', `status IN ('queued', 'running', 'waiting', 'settled')`)
@Check(
  'inbox_messages_state',
  `state IN ('evaluating', 'accepted', 'dropped', 'held', 'failed') AND (state = 'held') = (hold_reason IS NOT NULL)`,
)
@Check('inbox_messages_verdict', `verdict IN ('accepted', 'dropped', 'quarantined')`)
@Check('inbox_messages_evaluating', `(state = 'evaluating') = (status <> 'settled')`)
export class InboxMessage extends DurableRun<'queued' | 'running' | 'waiting' | 'settled', EvaluationWait> {
  @Column('text') inbox_id: string;
  /** No foreign key: channels are deleted for good. */
  @Column('uuid') channel_id: string;
  @Column('text') channel_kind: ChannelKind;
  @Column('text', { nullable: true }) recipient: string | null;
  @Column('text', { nullable: true }) sender_address: string | null;
  @Column('text', { nullable: true }) sender_name: string | null;
  /** Whose rates it counts for: the sender's address, a long one by its hash, or the channel where there is none. */
  @Column('text') sender_key: string;
  @Column('text', { nullable: true }) subject: string | null;
  @Column('int') size_bytes: number;
  @Column('text', { nullable: true }) dedupe_key: string | null;
  @Column('int', { default: 0 }) duplicates: number;
  @Column('timestamptz', { nullable: true }) last_duplicate_at: Date | null;
  /** Message-ID, or what a webhook names its thread by: what later ones refer to. */
  @Column('text', { nullable: true }) message_ref: string | null;
  @Column('text', { default: 'evaluating' }) state: MessageState;
  @Column('text', { nullable: true }) verdict: MessageVerdict | null;
  @Column('text', { nullable: true }) hold_reason: HoldReason | null;
  /** Stage or gate that gave the verdict. */
  @Column('text', { nullable: true }) decided_by: string | null;
  @Column('text', { array: true, default: () => "'{}'" }) tags: string[];
  /** Which evaluation it is in, or had last: 1 for that on arrival. */
  @Column('int', { default: 1 }) evaluation_no: number;
  @Column('text', { default: 'arrival' }) evaluation_cause: 'arrival' | 'replay' | 'retry' | 'release' | 'auto_release';
  /** Under which the evaluation began, and ends. */
  @Column('uuid', { nullable: true }) revision_id: string | null;
  /** When it passed the rates, for which it counts since; again and again evaluated, it counts once. */
  @Column('timestamptz', { nullable: true }) passed_at: Date | null;
  @Column('jsonb', { nullable: true }) dispatched: Dispatched | null;
  /** What it became in the chat that it was handed to: whose turn answers that, answers it. */
  @Column('uuid', { nullable: true }) chat_message_id: string | null;
  @Column('jsonb', { default: () => "'[]'" }) previous_dispatches: Dispatched[];
  @Column('timestamptz', { nullable: true }) terminated_at: Date | null;
  @Column('boolean', { default: true }) raw_available: boolean;
  @Column('timestamptz') raw_expires_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) received_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** What a message says, as long as it is kept. */
@Entity('inbox_envelopes')
@ForeignKey(() => InboxMessage, ['org_id', 'message_id'], ['org_id', 'id'])
export class InboxEnvelope {
  @PrimaryColumn('uuid') message_id: string;
  @Column('uuid') org_id: string;
  @Column('jsonb') headers: Record<string, string>;
  @Column('text') body_text: string;
  /** Of a webhook in JSON or as a form. */
  @Column('jsonb', { nullable: true }) payload: unknown;
  @Column('jsonb', { default: () => "'[]'" }) attachments: FileReference[];
  /** SPF, DKIM and DMARC of mail. */
  @Column('jsonb', { nullable: true }) auth: { spf: string; dkim: string; dmarc: string } | null;
  /** Why it is taken for one that no human sent. */
  @Column('text', { nullable: true }) automatic: string | null;
  @Column('text', { nullable: true }) reply_to: string | null;
  /** What it refers to, nearest first. */
  @Column('text', { array: true, default: () => "'{}'" }) references: string[];
  /** Canonical addresses of who wrote it, and to whom; once it is forgotten, their SHA-256 in hex. */
  @Column('text', { array: true, default: () => "'{}'" }) participants: string[];
}

/** What became of a message at a gate, a stage, or by somebody's hand. */
export interface TraceRow {
  stage_id: string;
  kind: 'gate' | 'match' | 'classifier' | 'default' | 'dispatch' | 'auto_release' | 'manual_release' | 'terminated';
  outcome: string;
  matched: boolean | null;
  detail: Record<string, unknown> | null;
  started_at: string;
  duration_ms: number;
  /** `calls` is how often it was asked. */
  classifier?: {
    label: string | null;
    confidence: number | null;
    model: string;
    cost_usd: string | null;
    cost_credits: string;
    calls?: number;
  } | null;
}

/** The traces of messages, several rows at a time: those of a step of an evaluation, or of an action. */
@Entity('inbox_traces')
@Index('inbox_traces_message', ['message_id', 'id'])
@ForeignKey(() => InboxMessage, ['org_id', 'message_id'], ['org_id', 'id'])
export class InboxTrace {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') message_id: string;
  @Column('uuid') org_id: string;
  @Column('int') evaluation_no: number;
  @Column('jsonb') rows: TraceRow[];
}

/** What was counted of a UTC day, for caps: messages and classifier calls, of an inbox or, with an empty `of`, of the organization. */
@Entity('intake_counts')
@ForeignKey(() => Organization, ['org_id'], ['id'])
export class IntakeCount {
  @PrimaryColumn('uuid') org_id: string;
  @PrimaryColumn('text') of: string;
  @PrimaryColumn('text') what: 'messages' | 'classifier_calls';
  @PrimaryColumn('date') day: string;
  @Column('int') n: number;
  /** Of messages: what has passed later was counted by nobody, since there was no cap. */
  @Column('timestamptz', { default: () => 'now()' }) counted_at: Date;
}

/** The mail that answers a message. */
@Entity('inbox_replies')
@Index('inbox_replies_message', ['message_id', 'id'])
@Index('inbox_replies_sent', ['inbox_id', 'message_ref'], { where: 'message_ref IS NOT NULL' })
@Index('inbox_replies_to', ['org_id', 'to_address', 'created_at'], { where: `state IN ('armed', 'sent')` })
@Unique('inbox_replies_said', ['source_id', 'call_key'])
@ForeignKey(() => InboxMessage, ['org_id', 'message_id'], ['org_id', 'id'])
@Check('inbox_replies_state', `state IN ('armed', 'sent', 'stood_down', 'suppressed')`)
export class InboxReply extends DatedOrgRow {
  @Column('text') inbox_id: string;
  @Column('uuid') message_id: string;
  /** Null where a run answers. */
  @Column('uuid', { nullable: true }) chat_id: string | null;
  /** The turn or the run that says it: a turn's last words, or those of a call of a tool. */
  @Column('uuid') source_id: string;
  @Column('text', { default: '' }) call_key: string;
  @Column('text') to_address: string;
  @Column('text') body_text: string;
  @Column('text') state: 'armed' | 'sent' | 'stood_down' | 'suppressed';
  /** Why it was suppressed. */
  @Column('text', { nullable: true }) reason: string | null;
  /** Its Message-ID. */
  @Column('text', { nullable: true }) message_ref: string | null;
  @Column('timestamptz') due_at: Date;
  @Column('timestamptz', { nullable: true }) sent_at: Date | null;
}

/** How many messages of each state came to an inbox, by the hour; see {@link INBOX_TALLY}. */
@Entity('inbox_tallies')
@Index('inbox_tallies_inbox', ['inbox_id', 'hour'])
@Index('inbox_tallies_appended', ['folded'], { where: 'NOT folded' })
export class InboxTally {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') org_id: string;
  @Column('text') inbox_id: string;
  @Column('text') channel_kind: string;
  @Column('text') state: string;
  /** Empty without one. */
  @Column('text') verdict: string;
  @Column('timestamptz') hour: Date;
  @Column('int') n: number;
  @Column('boolean', { default: false }) folded: boolean;
}
