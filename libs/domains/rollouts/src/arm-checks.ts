import { Injectable } from '@nestjs/common';
import { AgentReferences, type Candidate } from '@aps/agents';
import { DomainError } from '@aps/contracts';
import type { Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import type { Tx } from '@aps/platform/database';

/** What an arm runs on. */
export interface CheckedArm {
  label: string;
  config: Candidate['config'];
}

/** Looks at whether what arms name is there, and the model, which the organization has to allow for an experiment. */
@Injectable()
export class ArmChecks {
  constructor(
    private readonly references: AgentReferences,
    private readonly catalog: ModelCatalog,
  ) {}

  /**
   * What is there stays there until the transaction ends.
   *
   * @param as a deployment goes on without the tools, the knowledge bases and the environment that are gone, and with a model that is not
   *   allowed any more; an experiment does not begin so
   * @throws DomainError 422 `arm_unusable` with every problem of every arm
   */
  async require(tx: Tx, scope: OrgScope, agent: Agent, arms: readonly CheckedArm[], as: 'experiment' | 'deployment'): Promise<void> {
    const problems: { arm: string; kind: string; slug: string }[] = [];
    for (const { label, config } of arms) {
      // Where it belongs is not sealed; older revisions tell where it once did.
      const refs = {
        ...config,
        team_id: null,
        project_id: null,
        ...(as === 'deployment' && { knowledge_base_ids: [], environment_id: null }),
      };
      const options = { self: agent, deniedMayBeGone: true as const, scopesAreThere: as === 'experiment' };
      for (const { kind, slug } of await this.references.missing(tx, scope, refs, options)) problems.push({ arm: label, kind, slug });
      if (config.model !== null && !(await this.mayName(tx, scope, config.model, as)))
        problems.push({ arm: label, kind: 'model', slug: config.model });
    }
    if (problems.length)
      throw new DomainError('arm_unusable', 'Some arms name what is not there, or not allowed.', { context: { problems } });
  }

  private async mayName(tx: Tx, scope: OrgScope, model: string, as: 'experiment' | 'deployment'): Promise<boolean> {
    if (as === 'deployment') return this.catalog.holdKnown(tx, scope, model);
    return (await this.catalog.holdUsable(tx, scope, [model], 'agent')).has(model);
  }
}
