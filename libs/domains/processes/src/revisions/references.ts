import { Injectable } from '@nestjs/common';
import { isUuid } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog, ModelQueries } from '@aps/inference';
import type { Tx } from '@aps/platform/database';
import { referencesIn, type Definition, type DefinitionProblem } from '../definition';
import { HOLD, SLUGS } from './references.sql';

/** What a definition names by id or slug. */
export const REFERRED = ['agent', 'template', 'process'] as const;
export type Referred = (typeof REFERRED)[number];

/** What a step names, and where it was found. */
export interface Reference {
  step_id: string;
  kind: Referred | 'model';
  /** As the definition has it. */
  name: string;
  /** Of what it names: an id, or the key of a model. Null where there is no such thing. */
  id: string | null;
}

/** How a reference is kept, and found again by. */
export const refOf = (kind: Reference['kind'], id: string): string => `${kind}:${id}`;

const WORDS = { agent: 'agent', template: 'prompt template', process: 'process', model: 'model' };
/** So many are told of what could have been named. */
const TOLD = 50;

/** Looks up what definitions name. */
@Injectable()
export class References {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly models: ModelQueries,
  ) {}

  /**
   * All that a definition names but tools, in this order: agents, templates, processes, models. Until the transaction ends nobody deletes it.
   *
   * @param meant their ids, by {@link refOf} what the definition calls them, where that was settled before
   */
  async held(tx: Tx, scope: OrgScope, definition: Definition, meant: Readonly<Record<string, string>> = {}): Promise<Reference[]> {
    const { agents, templates, processes, models } = referencesIn(definition);
    const named: Record<Referred, { step_id: string; name: string }[]> = {
      agent: agents.map(({ step_id, agent: name }) => ({ step_id, name })),
      template: templates.map(({ step_id, template: name }) => ({ step_id, name })),
      process: processes.map(({ step_id, process: name }) => ({ step_id, name })),
    };
    const found: Reference[] = [];
    for (const kind of REFERRED) {
      const refIn = (name: string) => meant[refOf(kind, name)] ?? name;
      const refs = [...new Set(named[kind].map(({ name }) => refIn(name)))];
      const [ids, slugs] = kind === 'process' ? [refs, refs] : [refs.filter(isUuid), refs.filter((ref) => !isUuid(ref))];
      const rows = refs.length ? await tx.query(HOLD[kind], [scope.orgId, ids, slugs]) : [];
      const idOf = (ref: string) => rows.find(({ id, slug }) => id === ref.toLowerCase() || slug === ref)?.id ?? null;
      found.push(...named[kind].map(({ step_id, name }) => ({ step_id, kind, name, id: idOf(refIn(name)) })));
    }
    const usable = await this.catalog.holdUsable(tx, scope, [...new Set(models.map(({ model }) => model))], 'process');
    return [
      ...found,
      ...models.map(({ step_id, model: name }) => ({ step_id, kind: 'model' as const, name, id: usable.has(name) ? name : null })),
    ];
  }

  /** What is named and not there, with what could be. */
  async problems(tx: Tx, scope: OrgScope, references: Reference[]): Promise<DefinitionProblem[]> {
    const values = new Map<Reference['kind'], string[]>();
    const problems: DefinitionProblem[] = [];
    for (const { step_id, kind, id } of references) {
      if (id !== null) continue;
      if (!values.has(kind)) values.set(kind, await this.namable(tx, scope, kind));
      problems.push({ step_id, field: kind, problem: `There is no such ${WORDS[kind]}.`, valid_values: values.get(kind)! });
    }
    return problems;
  }

  private async namable(tx: Tx, scope: OrgScope, kind: Reference['kind']): Promise<string[]> {
    if (kind === 'model') return (await this.models.config(scope)).scopes.process.models;
    return (await tx.query(SLUGS[kind], [scope.orgId, TOLD])).map(({ slug }) => slug);
  }
}
