import { Injectable } from '@nestjs/common';
import { AgentReferences, AgentsRepository, InstructionsService, refuseStale, RevisionsService, type Candidate } from '@aps/agents';
import { DomainError, type Problem } from '@aps/contracts';
import { Rollout, type Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Tx } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { ArmChecks } from './arm-checks';
import { choiceOf, identical, requireArms, type ArmInput } from './arms.policy';
import { rolloutsConfig } from './rollouts.config';

export interface ExperimentInput {
  arms: ArmInput[];
  control: string;
  unit?: Rollout['unit'];
  allow_identical?: boolean;
  min_sample?: number;
  label?: string | null;
  hypothesis?: string | null;
  /** Of the instruction, as whoever starts it had read it. */
  base_version?: string | null;
}

/**
 * Experiments between revisions of an agent. At most one of an agent runs, and nothing else is in force then; all changes are made under the
 * agent's row lock, as deployments are, so of two at once one comes first and the other finds what that has made.
 */
@Injectable()
export class ExperimentsService {
  private readonly rollouts = new OrgTable(Rollout, 'Rollout');

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsRepository,
    private readonly references: AgentReferences,
    private readonly revisions: RevisionsService,
    private readonly instructions: InstructionsService,
    private readonly checks: ArmChecks,
    private readonly audit: Audit,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * Starts one, in place of what is in force; drafts are sealed for it, and nothing is published.
   *
   * @param attempt knows of what the same has started before, if nobody heard of it; so of those that end one
   * @throws DomainError `experiments_disabled`; `version_conflict`; 422 `unknown_revision`, `identical_arms`, `arm_unusable`, in this order, and nothing is written
   */
  async start(scope: OrgScope, agentRef: string, input: ExperimentInput, attempt?: Attempt): Promise<Rollout> {
    requireArms(input.arms, input.control);
    if (attempt?.resourceId) return this.rollouts.get(this.db, scope, attempt.resourceId);
    return this.db.transaction(scope, async (tx) => {
      await this.references.holdEnvironment(tx, scope, agentRef);
      let agent = await this.agents.lock(tx, scope, agentRef);
      if (!rolloutsConfig.value.enabled) throw new DomainError('experiments_disabled', 'This deployment runs no experiments.');
      // Any member may write the draft.
      if (input.arms.some(({ use_draft }) => use_draft)) refuseStale(agent, input);
      const candidates = await this.candidates(tx, scope, agent, input.arms);
      const same = input.allow_identical ? [] : identical(candidates);
      if (same.length) throw new DomainError('identical_arms', `The arms ${same.join(', ')} are the same.`, { context: { labels: same } });
      await this.checks.require(tx, scope, agent, candidates, 'experiment');

      const arms: Rollout['arms'] = [];
      for (const { label, weight, ...candidate } of candidates) {
        const { id, version } = await this.revisions.sealCandidate(tx, scope, agent, candidate);
        arms.push({ label, revision_id: id, version, weight, ...(candidate.isOfDraft && { of_draft: true as const }) });
        agent = await this.agents.lock(tx, scope, agent.id);
      }
      const control = arms.find(({ label }) => label === input.control)!;
      const superseded_rollout_ids = await this.revisions.supersede(tx, scope, agent, control.revision_id);
      const { unit = 'chat', min_sample = rolloutsConfig.value.min_sample } = input;
      const experiment = await this.rollouts.insert(tx, scope, {
        agent_id: agent.id,
        kind: 'experiment',
        status: 'running',
        ...describing(input),
        unit,
        control: control.label,
        min_sample,
        arms,
        started_by: scope.actor.userId,
        started_at: now,
      });
      if (attempt) await this.idempotency.attach(tx, attempt, experiment.id);
      const told = arms.map(({ label, revision_id, weight }) => ({ label, revision_id, weight }));
      const facts = { rollout_id: experiment.id, arms: told, superseded_rollout_ids };
      await this.audit.record(tx, scope, 'rollout.started', { kind: 'agent', id: agent.id }, facts);
      return experiment;
    });
  }

  /** @throws DomainError `not_found`, `not_an_experiment` */
  edit(scope: OrgScope, agentRef: string, id: string, input: Pick<ExperimentInput, 'label' | 'hypothesis'>): Promise<Rollout> {
    return this.db.transaction(scope, async (tx) => {
      const { agent, rollout } = await this.locked(tx, scope, agentRef, id);
      if (rollout.kind !== 'experiment') throw new DomainError('not_an_experiment', 'A deployment has neither a label nor a hypothesis.');
      const columns = describing(input);
      const edited = (await this.rollouts.update(tx, scope, id, columns))!;
      await this.audit.record(
        tx,
        scope,
        'rollout.updated',
        { kind: 'agent', id: agent.id },
        { rollout_id: id, fields: Object.keys(columns) },
      );
      return edited;
    });
  }

  /**
   * Ends it by a deployment of one of its arms. Where it tried an instruction that was being written, the text is published, too: else the next revision that is
   * sealed would fall back behind it.
   *
   * @returns the experiment as it ended
   * @throws DomainError `not_found`, `rollout_not_running`, 422 `unknown_arm`, `arm_unusable`; it runs on then
   */
  async promote(scope: OrgScope, agentRef: string, id: string, label: string, attempt?: Attempt): Promise<Rollout> {
    if (attempt?.resourceId) return this.rollouts.get(this.db, scope, attempt.resourceId);
    return this.db.transaction(scope, async (tx) => {
      const { agent, rollout } = await this.running(tx, scope, agentRef, id, attempt);
      const labels = rollout.arms.map((arm) => arm.label);
      const arm = rollout.arms.find((one) => one.label === label);
      if (!arm) throw new DomainError('unknown_arm', `The experiment has the arms ${labels.join(', ')}.`, { context: { labels } });
      const { config } = (await this.revisions.candidate(tx, scope, agent, { id: arm.revision_id }))!;
      await this.checks.require(tx, scope, agent, [{ label, config }], 'deployment');
      const ended = { status: 'promoted', promoted_arm: label } as const;
      if (!arm.of_draft) return this.end(tx, scope, agent, rollout, arm, ended);
      const number = await this.instructions.publishTried(tx, scope, agent, config.instruction);
      const changed = await this.agents.lock(tx, scope, agent.id);
      const { id: revision_id, version } = await this.revisions.renumbered(tx, scope, changed, arm.revision_id, number);
      return this.end(tx, scope, changed, rollout, { revision_id, version }, ended);
    });
  }

  /**
   * Ends it by a deployment of its control, whatever has become of what that names: it is the brake.
   *
   * @returns the experiment as it ended
   * @throws DomainError `not_found`, `rollout_not_running`
   */
  async stop(scope: OrgScope, agentRef: string, id: string, attempt?: Attempt): Promise<Rollout> {
    if (attempt?.resourceId) return this.rollouts.get(this.db, scope, attempt.resourceId);
    return this.db.transaction(scope, async (tx) => {
      const { agent, rollout } = await this.running(tx, scope, agentRef, id, attempt);
      const control = rollout.arms.find(({ label }) => label === rollout.control)!;
      return this.end(tx, scope, agent, rollout, control, { status: 'stopped' });
    });
  }

  private async end(
    tx: Tx,
    scope: OrgScope,
    agent: Agent,
    { id }: Rollout,
    { revision_id, version }: Pick<Rollout['arms'][number], 'revision_id' | 'version'>,
    ended: Pick<Rollout, 'status'> & Partial<Pick<Rollout, 'promoted_arm'>>,
  ): Promise<Rollout> {
    await this.rollouts.update(tx, scope, id, { ...ended, ended_at: now });
    const deployment = await this.revisions.putLive(tx, scope, agent, { id: revision_id, version });
    const facts = { rollout_id: id, deployed_rollout_id: deployment.id, ...ended };
    await this.audit.record(tx, scope, `rollout.${ended.status}`, { kind: 'agent', id: agent.id }, facts);
    return (await this.rollouts.update(tx, scope, id, { deployed_rollout_id: deployment.id }))!;
  }

  private async candidates(
    tx: Tx,
    scope: OrgScope,
    agent: Agent,
    arms: readonly ArmInput[],
  ): Promise<(Candidate & Pick<ArmInput, 'label' | 'weight'>)[]> {
    const problems: Problem[] = [];
    const found: (Candidate & Pick<ArmInput, 'label' | 'weight'>)[] = [];
    for (const [i, arm] of arms.entries()) {
      const { label, weight, version, revision_id } = arm;
      const candidate = await this.revisions.candidate(tx, scope, agent, { version: version ?? undefined, id: revision_id ?? undefined });
      if (candidate) found.push({ label, weight, ...candidate });
      else
        problems.push({
          loc: ['body', 'arms', i, choiceOf(arm)],
          msg: 'The agent has no such revision',
          type: 'semantic.unknown_revision',
        });
    }
    if (problems.length) throw new DomainError('unknown_revision', 'The agent has no such revision.', { problems });
    return found;
  }

  private async locked(tx: Tx, scope: OrgScope, agentRef: string, id: string): Promise<{ agent: Agent; rollout: Rollout }> {
    const agent = await this.agents.lock(tx, scope, agentRef);
    return { agent, rollout: await this.rollouts.get(tx, scope, { agent_id: agent.id, id }) };
  }

  /** One that is to be ended, which the attempt notes. */
  private async running(
    tx: Tx,
    scope: OrgScope,
    agentRef: string,
    id: string,
    attempt?: Attempt,
  ): Promise<{ agent: Agent; rollout: Rollout }> {
    const found = await this.locked(tx, scope, agentRef, id);
    if (found.rollout.status === 'running') {
      if (attempt) await this.idempotency.attach(tx, attempt, id);
      return found;
    }
    const running = await this.rollouts.find(tx, scope, { agent_id: found.agent.id, status: 'running' });
    const context = { rollout_id: running?.id ?? null, label: running?.label ?? null, status: running?.status ?? null };
    throw new DomainError('rollout_not_running', 'This rollout is no experiment that runs.', { context });
  }
}

/** What is said of an experiment; empty is nothing. */
const describing = ({
  label,
  hypothesis,
}: Pick<ExperimentInput, 'label' | 'hypothesis'>): Partial<Pick<Rollout, 'label' | 'hypothesis'>> => ({
  ...(label !== undefined && { label: label?.trim() || null }),
  ...(hypothesis !== undefined && { hypothesis: hypothesis?.trim() || null }),
});
