import { Injectable } from '@nestjs/common';
import type { Problem } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { refuseUnknownReferences, unknownReference } from './agents.errors';
import { AgentsRepository } from './agents.repository';
import { SkillsRepository } from './skills.repository';
import { parseToolScope } from './tool-scopes';

/** What of an agent's configuration names something else. */
export interface Referring {
  readonly allowed_tools?: readonly string[];
  readonly denied_tools?: readonly string[];
  readonly mounted_skills?: readonly string[];
  readonly child_agent_ids?: readonly string[];
}

export interface ReferenceOptions {
  /** The agent that refers; undefined for one that is not there yet. */
  self?: { id: string; slug: string };
  /** Where the problems stand in the request. Default: each in its own field of the body. */
  loc?: (string | number)[];
}

/**
 * Checks that what a configuration names is there, and holds it there until the transaction ends: whoever deletes it meanwhile waits,
 * and then finds the reference.
 *
 * Knowledge bases, connections, processes and environments are checked by form only; nothing exists yet that they could be looked up in.
 */
@Injectable()
export class AgentReferences {
  constructor(
    private readonly agents: AgentsRepository,
    private readonly skills: SkillsRepository,
  ) {}

  /** @throws DomainError `unknown_reference` with every problem */
  async require(tx: Tx, scope: OrgScope, refs: Referring, options: ReferenceOptions = {}): Promise<void> {
    const problems = [
      ...(await this.toolProblems(tx, scope, refs, options)),
      ...(await this.skillProblems(tx, scope, refs)),
      ...(await this.childProblems(tx, scope, refs, options)),
    ];
    refuseUnknownReferences(options.loc ? problems.map((p) => ({ ...p, loc: options.loc! })) : problems);
  }

  private async toolProblems(tx: Tx, scope: OrgScope, refs: Referring, { self }: ReferenceOptions): Promise<Problem[]> {
    const named = (['allowed_tools', 'denied_tools'] as const).flatMap((field) =>
      (refs[field] ?? []).map((text, i) => ({ path: ['body', field, i], scope: parseToolScope(text) })),
    );
    const slugs = named.flatMap(({ scope: s }) => (s?.kind === 'agent' ? [s.slug] : []));
    const live = slugs.length ? new Set((await this.agents.holdSlugs(tx, scope, slugs)).map((a) => a.slug)) : new Set<string>();
    return named.flatMap(({ path, scope: s }) => {
      if (!s) return [unknownReference(path, 'There is no such tool scope')];
      if (s.kind !== 'agent') return [];
      if (s.slug === self?.slug) return [unknownReference(path, 'An agent cannot be its own tool')];
      return live.has(s.slug) ? [] : [unknownReference(path, 'There is no agent of this slug')];
    });
  }

  private async skillProblems(tx: Tx, scope: OrgScope, { mounted_skills: slugs = [] }: Referring): Promise<Problem[]> {
    if (!slugs.length) return [];
    const known = await this.skills.holdSlugs(tx, scope, [...slugs]);
    return slugs.flatMap((slug, i) =>
      known.has(slug) ? [] : [unknownReference(['body', 'mounted_skills', i], 'There is no skill of this slug')],
    );
  }

  private async childProblems(
    tx: Tx,
    scope: OrgScope,
    { child_agent_ids: ids = [] }: Referring,
    { self }: ReferenceOptions,
  ): Promise<Problem[]> {
    if (!ids.length) return [];
    const known = new Set((await this.agents.holdIds(tx, scope, [...ids])).map((a) => a.id));
    return ids.flatMap((id, i) => {
      if (id === self?.id) return [unknownReference(['body', 'child_agent_ids', i], 'An agent cannot be its own child')];
      return known.has(id) ? [] : [unknownReference(['body', 'child_agent_ids', i], 'There is no such agent')];
    });
  }
}
