import { compilePattern } from '@aps/platform/definitions';
import type { Condition, Leaf, Outcome, RuleSet, Target } from './rule-set.schema';

/** What deploy says of a stage. */
export interface RevisionProblem {
  /** Null of what no stage is to blame for: the default, or all of them together. */
  stage_id: string | null;
  /** Its path within the stage, or within the definition where there is no stage. */
  field: string;
  problem: string;
  /** What would do, where that can be listed. */
  valid_values: string[];
}

interface Placed {
  stage_id: string | null;
  field: string;
}

/**
 * Instructions that the patterns of a rule set may come to together. An engine that never goes back still may take a step per instruction
 * and character: 2,000 of them over a text of 100,000 characters that is made for it take two seconds, usual ones a millisecond. A letter
 * is an instruction, and what repeats counts as often as it may.
 */
export const MAX_INSTRUCTIONS = 2_000;

/** Every pattern that messages are searched for, in the order of the stages. */
export const patternsOf = (ruleSet: RuleSet): (Placed & { pattern: string })[] =>
  ruleSet.stages.flatMap((stage) =>
    stage.kind === 'match'
      ? leavesOf(stage.when, 'when').flatMap(({ leaf: { op, value }, path }) =>
          op === 'matches' ? [{ stage_id: stage.id, field: `${path}.value`, pattern: String(value) }] : [],
        )
      : [],
  );

/** Every handler that is named; whether it is there is to be asked. */
export const targetsOf = (ruleSet: RuleSet): (Placed & { target: Target })[] => [
  ...targetOf(ruleSet.default, null, 'default.target'),
  ...ruleSet.stages.flatMap((stage) =>
    stage.kind === 'match'
      ? targetOf(stage.then, stage.id, 'then.target')
      : stage.labels.flatMap((label, i) => targetOf(label, stage.id, `labels.${i}.target`)),
  ),
];

/** Every model that a classifier names. */
export const modelsOf = (ruleSet: RuleSet): { stage_id: string; field: string; model: string }[] =>
  ruleSet.stages.flatMap((stage) =>
    stage.kind === 'classifier' && stage.model ? [{ stage_id: stage.id, field: 'model', model: stage.model }] : [],
  );

/** What is wrong with the patterns: the first thing of each, and whether all of them together are too much. */
export function patternProblems(ruleSet: RuleSet): RevisionProblem[] {
  const problems: RevisionProblem[] = [];
  let instructions = 0;
  for (const { stage_id, field, pattern } of patternsOf(ruleSet)) {
    const compiled = compilePattern(pattern);
    if ('problem' in compiled) problems.push({ stage_id, field, problem: compiled.problem, valid_values: [] });
    else instructions += compiled.instructions;
    // What comes after it would be compiled for nothing.
    if (instructions <= MAX_INSTRUCTIONS) continue;
    const problem = `From here on the patterns of all stages together are too large; prefer contains or in to patterns, and small counts to large ones.`;
    return [...problems, { stage_id, field, problem, valid_values: [] }];
  }
  return problems;
}

const targetOf = ({ target }: Outcome, stageId: string | null, field: string) => (target ? [{ stage_id: stageId, field, target }] : []);

function leavesOf(condition: Condition, path: string): { leaf: Leaf; path: string }[] {
  if ('any' in condition) return condition.any.flatMap((inner, i) => leavesOf(inner, `${path}.any.${i}`));
  if ('all' in condition) return condition.all.flatMap((inner, i) => leavesOf(inner, `${path}.all.${i}`));
  if ('not' in condition) return leavesOf(condition.not, `${path}.not`);
  return [{ leaf: condition, path }];
}
