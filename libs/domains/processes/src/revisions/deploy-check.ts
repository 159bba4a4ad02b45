import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { isUuid } from '@aps/contracts';
import type { ProcessRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { stepsOf, warningsOf, type Definition, type DefinitionProblem, type DefinitionWarning, type ToolStep } from '../definition';
import { MEMBERS, NOT_DEPLOYED, REACHING } from './references.sql';
import { References, refOf, type Reference } from './references';
import { revisionInvalid } from './revision.policy';
import { isRepeatable, StepTools } from '../tools/step-tools';
import { toolProblems, type CalledTools } from './tool-snapshot';

/** Looks at what a definition needs around it, before it is deployed. */
@Injectable()
export class DeployCheck {
  constructor(
    private readonly references: References,
    private readonly tools: StepTools,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Before its process is locked: whoever deletes what it names locks that first, and then who names it.
   *
   * @returns what it names, as it is kept, and what is worth a look
   * @throws DomainError 403 `entitlement_required`; 422 `revision_invalid` with every problem
   */
  async pass(
    tx: Tx,
    scope: OrgScope,
    processId: string,
    definition: Definition,
    called: CalledTools,
  ): Promise<{ named: Pick<ProcessRevision, 'refs' | 'meant'>; warnings: DefinitionWarning[] }> {
    const assigned = stepsOf(definition).flatMap(({ step }) => (step.kind === 'human' && step.assignees.length ? [step] : []));
    if (assigned.length) await this.entitlements.require(scope.orgId, 'hitl_routing', tx);
    const found = await this.references.held(tx, scope, definition);
    if (found.some(({ kind }) => kind === 'model')) await this.entitlements.require(scope.orgId, 'direct_model_choice', tx);
    const warnings = [
      ...warningsOf(definition, { writesTwice: (step) => isWrittenTwice(called, step) }),
      ...(await this.strangers(tx, scope, assigned)),
      ...(await this.undeployed(tx, found)),
    ];
    const errors = [
      ...toolProblems(definition, called, [...called.values()].includes(null) ? await this.tools.slugs(scope.orgId) : []),
      ...(await this.references.problems(tx, scope, found)),
      ...(await this.cycles(tx, scope, processId, found)),
    ];
    if (errors.length) throw revisionInvalid(errors, warnings);
    const refs = [...new Set(found.map(({ kind, id }) => refOf(kind, id!)))].sort();
    const meant = Object.fromEntries(found.flatMap(({ kind, name, id }) => (kind === 'model' ? [] : [[refOf(kind, name), id!]])));
    return { named: { refs, meant }, warnings };
  }

  /** One deploy of an organization at a time looks for them: two that name each other shall not miss each other. */
  private async cycles(tx: Tx, scope: OrgScope, processId: string, found: Reference[]): Promise<DefinitionProblem[]> {
    const named = processesIn(found);
    if (!named.length) return [];
    await advisoryLock(tx, `process_refs:${scope.orgId}`);
    const starts = (await tx.query(REACHING, [scope.orgId, named.map(({ id }) => id), processId])).map(({ start }) => start);
    return named
      .filter(({ id }) => starts.includes(id))
      .map(({ step_id }) => ({ step_id, field: 'process', problem: 'By this step the process would run itself.', valid_values: [] }));
  }

  private async undeployed(tx: Tx, found: Reference[]): Promise<DefinitionWarning[]> {
    const named = processesIn(found);
    const ids = named.length ? (await tx.query(NOT_DEPLOYED, [named.map(({ id }) => id)])).map(({ id }) => id) : [];
    return named
      .filter(({ id }) => ids.includes(id))
      .map(({ step_id }) => ({ step_id, field: 'process', problem: 'Nothing of this process is deployed: until then the step fails.' }));
  }

  /** Assignees who are no members. */
  private async strangers(tx: Tx, scope: OrgScope, steps: { id: string; assignees: string[] }[]): Promise<DefinitionWarning[]> {
    const people = steps.flatMap(({ id, assignees }) =>
      assignees.flatMap((assignee, i) => {
        if (assignee.startsWith('role:')) return [];
        const who = assignee.startsWith('user:') ? assignee.slice('user:'.length) : (canonicalEmail(assignee) ?? assignee);
        return [{ step_id: id, field: `assignees.${i}`, who }];
      }),
    );
    if (!people.length) return [];
    const names = people.map(({ who }) => who);
    const members = await tx.query(MEMBERS, [scope.orgId, names.filter(isUuid), names.filter((name) => !isUuid(name))]);
    const known = new Set(members.flatMap(({ user_id, email }) => [user_id, email]));
    return people
      .filter(({ who }) => !known.has(who))
      .map(({ step_id, field }) => ({ step_id, field, problem: 'Nobody of this organization is meant by this.' }));
  }
}

const processesIn = (found: Reference[]): { step_id: string; id: string }[] =>
  found.flatMap(({ kind, step_id, id }) => (kind === 'process' && id !== null ? [{ step_id, id }] : []));

/** Arguments in which expressions stand may come to anything. */
const isWrittenTwice = (called: CalledTools, step: ToolStep): boolean =>
  !isRepeatable(called.get(step.tool), typeof step.arguments === 'object' ? (step.arguments as Record<string, unknown>) : {});
