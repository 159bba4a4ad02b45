import { invalid, type Problem } from '@aps/contracts';
import { ALL_WEIGHTS } from '@aps/agents';

/** An arm as it is asked for. */
export interface ArmInput {
  label: string;
  weight: number;
  version?: number | null;
  revision_id?: string | null;
  use_draft?: boolean;
}

type Choice = 'version' | 'revision_id' | 'use_draft';
const CHOICES = ['version', 'revision_id', 'use_draft'] as const satisfies Choice[];

/** The ways in which an arm says which revision it means; one that is null or false says nothing. */
export const chosen = (arm: Partial<Record<Choice, unknown>>): Choice[] =>
  CHOICES.filter((choice) => arm[choice] !== undefined && arm[choice] !== null && arm[choice] !== false);

/** @returns the field by which an arm has said which revision it means */
export const choiceOf = (arm: ArmInput): Choice => chosen(arm)[0];

/** @throws DomainError 422 `validation_error` with every problem that the fields alone do not show */
export function requireArms(arms: readonly ArmInput[], control: string): void {
  const problem = (msg: string, ...loc: (string | number)[]): Problem => ({ loc: ['body', ...loc], msg, type: 'value_error' });
  const labels = arms.map(({ label }) => label);
  const weights = arms.reduce((sum, { weight }) => sum + weight, 0);
  const problems = [
    ...arms.flatMap((arm, i) => [
      ...(labels.indexOf(arm.label) < i ? [problem('Labels of arms should not repeat', 'arms', i, 'label')] : []),
      ...(chosen(arm).length === 1 ? [] : [problem(`An arm should have exactly one of ${CHOICES.join(', ')}`, 'arms', i)]),
    ]),
    ...(weights === ALL_WEIGHTS ? [] : [problem(`Weights of arms should come to ${ALL_WEIGHTS}, and come to ${weights}`, 'arms')]),
    ...(labels.includes(control) ? [] : [problem('The control should be the label of an arm', 'control')]),
  ];
  if (problems.length) throw invalid(...problems);
}

/** Labels of arms that are the same, word for word. */
export function identical(arms: readonly { label: string; hash: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const { hash } of arms) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return arms.filter(({ hash }) => counts.get(hash)! > 1).map(({ label }) => label);
}
