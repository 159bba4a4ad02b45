import { DomainError, invalid } from '@aps/contracts';
import type { RevisionProblem } from './rule-set.check';
import { readRuleSet } from './rule-set.policy';
import type { RuleSet } from './rule-set.schema';

/** What a definition that is about to be stored says. @throws DomainError `validation_error` with every problem of its shape */
export function pushedRuleSet(definition: unknown): RuleSet {
  const read = readRuleSet(definition);
  if ('ruleSet' in read) return read.ruleSet;
  const problems = read.problems.map((problem) => ({ ...problem, loc: ['body', 'definition', ...problem.loc] }));
  throw invalid(...problems);
}

/** What a stored one says. @throws DomainError `revision_invalid`, should it be none any more */
export function storedRuleSet(definition: unknown): RuleSet {
  const read = readRuleSet(definition);
  if ('ruleSet' in read) return read.ruleSet;
  throw revisionInvalid(read.problems.map(({ loc, msg }) => ({ stage_id: null, field: loc.join('.'), problem: msg, valid_values: [] })));
}

/** @throws DomainError `revision_invalid`, unless there is no problem */
export function refuseProblems(problems: RevisionProblem[]): void {
  if (problems.length) throw revisionInvalid(problems);
}

function revisionInvalid(errors: RevisionProblem[]): DomainError {
  const problems = errors.map(({ stage_id, field, problem }) => ({
    loc: ['path', 'revision_id'],
    msg: `${stage_id === null ? '' : `Stage ${stage_id}, `}${field}: ${problem}`,
    type: 'semantic.revision_invalid',
  }));
  return new DomainError('revision_invalid', 'The revision cannot be run.', { problems, beside: { errors } });
}
