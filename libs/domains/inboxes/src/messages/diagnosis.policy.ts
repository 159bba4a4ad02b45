import type { Diagnosis } from '@aps/chats';
import type { EvaluationWait, HoldReason } from '@aps/entities';
import type { RunDiagnosis } from '@aps/processes';

export type FreedBy = 'itself' | 'member' | 'admin' | 'operator';
export type NextAction =
  | ('wait' | 'release' | 'retry' | 'replay' | 'set_target' | 'activate' | 'add_credits' | 'unsuspend')
  | ('answer' | 'continue' | 'retry_chat' | 'message' | 'raise_budget' | 'fix_route')
  | ('signal' | 'restart_run');

/** What keeps a message from going on, and who ends that how. */
export interface BlockedBy {
  kind: HoldReason | 'evaluation' | 'reply' | NonNullable<(Diagnosis | RunDiagnosis)['blocked_by']>['kind'];
  since: Date | null;
  /** What of that kind: a gate or stage, a worker, a time, the organization; or what the diagnosis of the chat or the run says. */
  ref: string | null;
  /** When it ends by itself; null where nobody can tell, or it does not. */
  until: Date | null;
  /** Null for nobody. */
  freed_by: FreedBy | null;
  sentence: string;
}

/** What keeps a message, and what would have it go on. */
export interface Blocked {
  blocked_by: BlockedBy | null;
  next_action: NextAction | null;
}

type Lift = Pick<BlockedBy, 'freed_by' | 'sentence'> & { next_action: NextAction };
const lift = (freed_by: FreedBy, next_action: NextAction, sentence: string): Lift => ({ freed_by, next_action, sentence });

const LIFTS: Record<HoldReason, Lift> = {
  quarantined: lift('admin', 'release', 'An administrator looks at it, and releases it or terminates it.'),
  stage_hold: lift('admin', 'release', 'A rule wants it looked at: an administrator releases it or terminates it.'),
  low_confidence: lift('admin', 'release', 'The model was not sure enough: an administrator releases it or terminates it.'),
  classifier_error: lift('admin', 'retry', 'The model gave no answer: an administrator has it evaluated again.'),
  handler_missing: lift(
    'member',
    'set_target',
    'There is nobody to hand it to: deploy its target, or give its inbox or its rule another, then have it evaluated again.',
  ),
  rate_sender: lift('itself', 'wait', 'Its sender has sent as much as the inbox takes of one; it goes on when there is room again.'),
  rate_inbox: lift('itself', 'wait', 'The messages of the inbox of this day are used up; it goes on at midnight UTC.'),
  plan_intake: lift('itself', 'wait', 'The messages of the plan of this day are used up; it goes on at midnight UTC.'),
  classifier_quota: lift('itself', 'wait', 'The classifier calls of this day are used up; it goes on at midnight UTC.'),
  spike: lift('itself', 'wait', 'Many more messages than usual have come; it goes on when there are fewer.'),
  queue_full: lift(
    'itself',
    'wait',
    'Too many turns of the organization wait, or its process takes no more runs of its key; it goes on when there is room.',
  ),
  credits_exhausted: lift(
    'admin',
    'add_credits',
    'The organization has too few credits for its classifier; it goes on when there are enough.',
  ),
  inbox_paused: lift('member', 'activate', 'The inbox is paused; it goes on when that is active.'),
  org_suspended: lift('operator', 'unsuspend', 'The organization is suspended; it goes on when that ends.'),
};
const FREED = lift('itself', 'wait', 'What it was held for is over; it goes on within half a minute.');
const TARGETED = lift('admin', 'retry', 'There is somebody to hand it to now: an administrator has it evaluated again.');
const MISFIT = lift(
  'admin',
  'retry',
  'It does not fit the input of the process that it goes to: change the schema of that, or its rule, then an administrator has it evaluated again.',
);
const EXPIRED = 'What it says is no longer kept, so it is not evaluated any more.';

export interface HeldMessage {
  hold_reason: HoldReason;
  since: Date;
  /** The gate or stage; of a suspended organization, that. */
  ref: string | null;
  raw_available: boolean;
  /** When what it is held for is over by itself, if anybody can tell. */
  until: Date | null;
  /** It is over. */
  lifted: boolean;
  /** Of one that nobody took: it is no input of its process. */
  misfit: boolean;
}

/** Of a held message. */
export function heldBy({ hold_reason: kind, since, ref, raw_available, until, lifted, misfit }: HeldMessage, now: Date): Blocked {
  const blocked = { kind, since, ref };
  if (!raw_available) return { blocked_by: { ...blocked, until: null, freed_by: null, sentence: EXPIRED }, next_action: null };
  const targeted = kind === 'handler_missing';
  const { next_action, ...by } = lifted ? (targeted ? TARGETED : FREED) : misfit ? MISFIT : LIFTS[kind];
  return { blocked_by: { ...blocked, ...by, until: lifted && !targeted ? now : until }, next_action };
}

/** Of one whose evaluation is under way. */
export function evaluationOf(since: Date, worker: string | null, wait: EvaluationWait | null): Blocked {
  const until = wait?.resume_at ? new Date(wait.resume_at) : null;
  const putOff = wait?.tries ? 'Its handler could not be begun, which is tried again.' : 'It waits for an earlier mail of its thread.';
  const sentence = until ? putOff : 'It is being evaluated.';
  return { blocked_by: { kind: 'evaluation', since, ref: worker, until, freed_by: 'itself', sentence }, next_action: 'wait' };
}

/** Of one whose answer is written, and not due yet. */
export const replyOf = ({ created_at, due_at }: { created_at: Date; due_at: Date }): Blocked => ({
  blocked_by: {
    ...{ kind: 'reply', since: created_at, ref: due_at.toISOString(), until: due_at, freed_by: 'itself' },
    sentence: 'The mail that answers it is sent when it is due.',
  },
  next_action: 'wait',
});

const OF_CHAT: Record<NonNullable<Diagnosis['blocked_by']>['kind'], Pick<BlockedBy, 'freed_by' | 'sentence'>> = {
  human: { freed_by: 'member', sentence: 'The agent has asked a human, and waits for the answer.' },
  child: { freed_by: 'itself', sentence: 'The agent waits for a chat that it has delegated to.' },
  timer: { freed_by: 'itself', sentence: 'The agent waits until a time that it has set.' },
  cap: { freed_by: 'itself', sentence: 'As many chats of the organization run as may; its chat is next in line, or behind others.' },
  lease: { freed_by: 'itself', sentence: 'The worker of its chat has gone silent; another one takes over.' },
  credits: { freed_by: 'admin', sentence: 'Credits are used up, or the model of its chat has no price.' },
  budget: { freed_by: 'admin', sentence: 'A budget that its chat spends of is used up.' },
  route: { freed_by: 'admin', sentence: 'The model of its chat cannot be reached.' },
  org_suspended: { freed_by: 'operator', sentence: 'The organization is suspended.' },
  agent_deleted: { freed_by: null, sentence: 'The agent of its chat is deleted.' },
};

/** Of one that was handed to a chat: what keeps that. */
export function ofChat({ blocked_by: by, state, next_action: next }: Diagnosis): Blocked {
  const blocked_by = by && { ...by, ...OF_CHAT[by.kind], until: by.kind === 'timer' && by.ref !== null ? new Date(by.ref) : null };
  // A chat that has answered waits for nothing.
  if (!by && state === 'ACTIVE' && next === 'message') return { blocked_by: null, next_action: null };
  return { blocked_by, next_action: next === 'retry' ? 'retry_chat' : next };
}

const OF_RUN: Record<NonNullable<RunDiagnosis['blocked_by']>['kind'], Pick<BlockedBy, 'freed_by' | 'sentence'>> = {
  human: { freed_by: 'member', sentence: 'A step of its run has asked a human, and waits for the answer.' },
  outcome_unknown: {
    freed_by: 'member',
    sentence: 'Nobody knows what became of a call of its run: a human looks there, and says how to go on.',
  },
  timer: { freed_by: 'itself', sentence: 'Its run waits until a time.' },
  event: { freed_by: 'member', sentence: 'Its run waits for a signal.' },
  child_run: { freed_by: 'itself', sentence: 'Its run waits for another run that it has begun.' },
  child: { freed_by: 'itself', sentence: 'Its run waits for an agent.' },
  concurrency: { freed_by: 'itself', sentence: 'Its run begins when another one of its key has ended.' },
  cap: { freed_by: 'itself', sentence: 'As many runs of the organization are at work as may; its run is next in line, or behind others.' },
  credits: { freed_by: 'admin', sentence: 'Its run has failed for want of credits.' },
  budget: { freed_by: 'admin', sentence: 'Its run has used up its budget.' },
  route: { freed_by: 'admin', sentence: 'A model of its run cannot be reached.' },
  lease: { freed_by: 'itself', sentence: 'The worker of its run has gone silent; another one takes over.' },
  org_suspended: { freed_by: 'operator', sentence: 'The organization is suspended.' },
};

/** Of one that was handed to a process: what keeps its run. */
export function ofRun({ blocked_by: by, next_action: next }: RunDiagnosis): Blocked {
  const until = by?.kind === 'timer' && by.ref !== null ? new Date(by.ref) : null;
  return {
    blocked_by: by && { ...by, ...OF_RUN[by.kind], until },
    next_action: next === 'restart' ? 'restart_run' : (next as NextAction | null),
  };
}
