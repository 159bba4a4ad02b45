import { DomainError, type Problem } from '@aps/contracts';
import { isUniqueViolation } from '@aps/platform/database';

/** A reference of an agent's configuration that leads nowhere; `path` says which. */
export const unknownReference = (path: (string | number)[], msg: string): Problem => ({
  loc: path,
  msg,
  type: 'semantic.unknown_reference',
});

/** Refuses with every problem at once; does nothing when there is none. */
export function refuseUnknownReferences(problems: Problem[]): void {
  if (problems.length) throw new DomainError('unknown_reference', 'The configuration names something that does not exist.', { problems });
}

export const slugTaken = () => new DomainError('slug_taken', 'This slug is taken.');

/** @param index that keeps slugs apart */
export const refusingTakenSlug = <T>(index: string, write: Promise<T>): Promise<T> =>
  write.catch((error: unknown) => {
    throw isUniqueViolation(error, index) ? slugTaken() : error;
  });

export const noDraft = () => new DomainError('no_draft', 'There is no instruction draft.');

export const versionConflict = (current: string) =>
  new DomainError('version_conflict', 'Someone else has changed this since you read it.', { context: { current_version: current } });

export function agentInUse(agents: { id: string; slug: string; name: string }[]): DomainError {
  return new DomainError('agent_in_use', 'Other agents name this one. Remove it from them first.', { context: { agents } });
}

export function skillInUse(agents: { id: string; slug: string; name: string }[]): DomainError {
  return new DomainError('skill_in_use', 'Agents mount this skill. Remove it from them first.', { context: { agents } });
}

export const systemSkillReadOnly = () => new DomainError('read_only', 'Skills of the system cannot be changed.');

export const instructionTooLong = (max: number) => new DomainError('instruction_too_long', `An instruction may have ${max} characters.`);
