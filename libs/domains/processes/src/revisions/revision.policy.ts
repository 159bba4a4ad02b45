import { schemaFault } from '@aps/chats';
import { DomainError } from '@aps/contracts';
import { readDefinition, type Definition, type DefinitionProblem, type DefinitionWarning } from '../definition';

/** What a definition that is about to be stored says. @throws DomainError `revision_invalid` with every problem */
export const pushedDefinition = (definition: unknown): Definition => read(definition, ['body', 'definition']);

/** What a stored one says. @throws DomainError `revision_invalid`, should it be none any more */
export const storedDefinition = (definition: unknown): Definition => read(definition, ['path', 'revision_id']);

function read(definition: unknown, loc: string[]): Definition {
  const reading = readDefinition(definition, { formFault: schemaFault });
  if ('definition' in reading) return reading.definition;
  throw revisionInvalid(reading.problems, [], loc);
}

/** @param loc where in the request the definition is, or is named */
export function revisionInvalid(errors: DefinitionProblem[], warnings: DefinitionWarning[], loc = ['path', 'revision_id']): DomainError {
  const problems = errors.map(({ step_id, field, problem }) => {
    const place = [step_id && `Step ${step_id}`, field].filter(Boolean).join(', ');
    return { loc, msg: place ? `${place}: ${problem}` : problem, type: 'semantic.revision_invalid' };
  });
  return new DomainError('revision_invalid', 'The revision cannot be run.', { problems, beside: { errors, warnings } });
}
