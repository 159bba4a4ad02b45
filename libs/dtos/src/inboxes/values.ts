export const HANDLER_KINDS = ['agent', 'process'] as const;
export const CHANNEL_KINDS = ['email', 'webhook'] as const;
export const INBOX_STATUSES = ['active', 'paused', 'disabled'] as const;
export const MESSAGE_STATES = ['accepted', 'failed', 'held', 'evaluating', 'dropped'] as const;
export const REVISION_STATUSES = ['draft', 'deployed', 'archived', 'superseded'] as const;
export const VERDICTS = ['accepted', 'dropped', 'quarantined'] as const;
export const EVALUATION_STATES = ['evaluating', 'settled'] as const;
export const MESSAGE_LANES = ['needs_attention', 'all', 'accepted', 'dropped'] as const;
export const HOLD_REASONS = [
  'quarantined',
  'stage_hold',
  'low_confidence',
  'classifier_error',
  'handler_missing',
  'rate_sender',
  'rate_inbox',
  'plan_intake',
  'classifier_quota',
  'credits_exhausted',
  'queue_full',
  'inbox_paused',
  'org_suspended',
  'spike',
] as const;

export type HandlerKind = (typeof HANDLER_KINDS)[number];
export type ChannelKind = (typeof CHANNEL_KINDS)[number];
export type InboxStatus = (typeof INBOX_STATUSES)[number];
export type MessageState = (typeof MESSAGE_STATES)[number];
export type RevisionStatus = (typeof REVISION_STATUSES)[number];
export type Verdict = (typeof VERDICTS)[number];
export type EvaluationState = (typeof EVALUATION_STATES)[number];
export type MessageLane = (typeof MESSAGE_LANES)[number];
