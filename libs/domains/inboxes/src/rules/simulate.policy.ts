import { isDeepStrictEqual } from 'node:util';
import type { TraceRow } from '@aps/entities';
import type { MessageFacts } from './message-facts';
import type { CompiledRules } from './rule-set.compile';
import type { ClassifierStage } from './rule-set.schema';
import { afterClassifier, answerOf, type ClassifierAnswer, type Verdict } from './verdict.policy';

/** What rules would make of a message, as far as it can be said without asking a model. */
export interface Simulated {
  /** Null where a classifier would have to be asked first. */
  end: Pick<Verdict, 'verdict' | 'state' | 'decided_by' | 'target'> | null;
  /** How many answers of classifiers it rests on. */
  recorded: number;
  /** Which would have to be asked. */
  missing: ClassifierStage | null;
}

/**
 * Runs the stages over a message again; nothing is asked, written or spent.
 *
 * @param answers what classifiers have said of the message, by the id of their stage; one that the stage could not have got counts for nothing
 */
export function simulate(facts: MessageFacts, answers: ReadonlyMap<string, ClassifierAnswer>, rules: CompiledRules): Simulated {
  let recorded = 0;
  let { tags, end } = rules.evaluate(facts);
  while ('classifier' in end) {
    const answer = answerOf(end.classifier, answers.get(end.classifier.id));
    if (!answer) return { end: null, recorded, missing: end.classifier };
    recorded += 1;
    const { verdict, tags: after } = afterClassifier(end.classifier, answer, tags);
    ({ tags, end } = verdict ? { tags: after, end: verdict } : rules.evaluate(facts, end.index + 1, after));
  }
  const { verdict, state, decided_by, target } = end;
  return { end: { verdict, state, decided_by, target }, recorded, missing: null };
}

/**
 * What was answered to classifiers of these rules: of each whose question is the one that was asked then. What follows from an answer, and how
 * sure it has to be, is no part of the question.
 *
 * @param trace of the evaluation that asked
 * @param asked the rules under which it did
 */
export function answersTo(rules: CompiledRules, trace: readonly TraceRow[], asked: CompiledRules): Map<string, ClassifierAnswer> {
  const answers = new Map<string, ClassifierAnswer>();
  for (const { kind, stage_id, classifier } of trace) {
    if (kind !== 'classifier' || !classifier || classifier.label === null || classifier.confidence === null) continue;
    const [now, then] = [rules.classifier(stage_id), asked.classifier(stage_id)];
    if (now && then && isDeepStrictEqual(questionOf(now), questionOf(then)))
      answers.set(stage_id, { label: classifier.label, confidence: classifier.confidence });
  }
  return answers;
}

const questionOf = ({ instruction, model, labels }: ClassifierStage) => ({ instruction, model, labels: labels.map(({ label }) => label) });

const DECIDE: ReadonlySet<TraceRow['kind']> = new Set(['gate', 'match', 'classifier', 'default']);

/** Whether a gate has decided, so that the stages were never asked. @param trace of the last evaluation */
export function endedAtGate(trace: readonly TraceRow[], decidedBy: string | null): boolean {
  const last = trace.findLast(({ kind }) => DECIDE.has(kind));
  return last?.kind === 'gate' && last.stage_id === decidedBy;
}
