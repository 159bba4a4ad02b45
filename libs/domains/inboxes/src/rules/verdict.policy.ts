import type { Action, ClassifierStage, Target, TerminalAction } from './rule-set.schema';

/** Why stages hold a message. */
export type StageHoldReason = 'quarantined' | 'stage_hold' | 'low_confidence' | 'classifier_error';

/** What becomes of a message. */
export interface Verdict {
  verdict: 'accepted' | 'dropped' | 'quarantined';
  state: 'accepted' | 'dropped' | 'held';
  hold_reason: StageHoldReason | null;
  /** Null where it is not accepted, or goes to the inbox's default handler. */
  target: Target | null;
  /** The id of the stage, or `default`. */
  decided_by: string;
}

/** What a stage has said of a message, for its trace. */
export interface StageResult {
  stage_id: string;
  kind: 'match' | 'classifier' | 'default';
  matched: boolean;
  outcome: Action | 'no_match';
  /** Null where there is no more to say. */
  detail: { reason?: ClassifierFailure; target?: Target; tags?: string[] } | null;
}

/** What a model has said of a message. */
export interface ClassifierAnswer {
  label: string;
  confidence: number;
}

type ClassifierFailure = 'low_confidence' | 'classifier_error';

/** What a stage makes of a message. */
export interface StageEnd {
  row: StageResult;
  /** All that the message has by now. */
  tags: string[];
  /** Null: it goes on. */
  verdict: Verdict | null;
}

interface Decision<A extends Action> {
  action: A;
  target?: Target | null;
  tags?: readonly string[];
  reason?: ClassifierFailure;
}

/** What follows from the action that a stage takes. */
export function endOf(
  { id, kind }: Pick<StageResult, 'kind'> & { id: string },
  decision: Decision<Action>,
  before: readonly string[],
): StageEnd {
  const { action, target, tags = [], reason } = decision;
  const detail = { ...(reason && { reason }), ...(target && { target }), ...(tags.length && { tags: [...tags] }) };
  return {
    row: { stage_id: id, kind, matched: !reason, outcome: action, detail: Object.keys(detail).length ? detail : null },
    tags: [...new Set([...before, ...tags])],
    verdict: action === 'continue' ? null : verdictOf(id, { action, target, reason }),
  };
}

/** What an action that ends the evaluation makes of a message. */
export function verdictOf(decidedBy: string, { action, target = null, reason }: Decision<TerminalAction>): Verdict {
  const decided = { target, decided_by: decidedBy };
  if (action === 'accept') return { verdict: 'accepted', state: 'accepted', hold_reason: null, ...decided };
  if (action === 'drop') return { verdict: 'dropped', state: 'dropped', hold_reason: null, ...decided };
  return { verdict: 'quarantined', state: 'held', hold_reason: reason ?? (action === 'hold' ? 'stage_hold' : 'quarantined'), ...decided };
}

/** @returns null where it is no answer, or its label none of the stage's: a classifier is then asked once more */
export function answerOf({ labels }: Pick<ClassifierStage, 'labels'>, answer: unknown): ClassifierAnswer | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const { label, confidence } = answer as Record<string, unknown>;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) return null;
  const known = labels.find((each) => each.label === label);
  return known ? { label: known.label, confidence } : null;
}

/**
 * What follows from the answer of a classifier.
 *
 * @param answer null where there was none to be had, which a label that is none of the stage's is, too
 */
export function afterClassifier(stage: ClassifierStage, answer: ClassifierAnswer | null, tags: readonly string[]): StageEnd {
  const label = stage.labels.find((each) => each.label === answer?.label);
  if (!answer || !label) return endOf(stage, { action: stage.on_error, reason: 'classifier_error' }, tags);
  if (answer.confidence < stage.min_confidence) return endOf(stage, { action: stage.below, reason: 'low_confidence' }, tags);
  return endOf(stage, label, tags);
}
