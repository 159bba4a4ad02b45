import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Db, Statement } from '@aps/platform/database';

/** An agent and the model it names. */
export interface AgentModel {
  id: string;
  name: string;
  model: string;
}

/** What names a model by its key. */
export interface ModelUser {
  id: string;
  org_id: string;
  name: string;
  model_key: string;
}

/** What a domain above, whose things name models, tells of them. */
export interface ModelUserReader {
  kind: 'agent' | 'prompt_template' | 'process' | 'inbox';
  /** What the statements have for a key. Default: the key. */
  refOf?: (key: string) => string;
  /** Those that name one of the keys. Values: the keys, how many at most, and an organization or null for all. */
  naming: Statement<ModelUser>;
  /** How many name each model; one that nothing names is left out. Values: the keys, or null for all. */
  counted: Statement<ModelsCounted>;
  /** The same for all, where `counted` takes no null. No values. */
  countedAll?: Statement<ModelsCounted>;
  /** Agents that name a model which is not in the list. Values: the organization, and the list. */
  outside?: Statement<AgentModel>;
}

/** How many of a kind name a model. */
export interface ModelsCounted {
  model_key: string;
  n: number;
}

/** Where domains above say who uses models. They register when they start; an application without them has no such users. */
@Injectable()
export class ModelUsers {
  private readonly readers = new Map<ModelUserReader['kind'], ModelUserReader>();

  register(reader: ModelUserReader): void {
    this.readers.set(reader.kind, reader);
  }

  /** Agents that an allowlist leaves out; an empty list leaves out nobody. */
  async agentsOutside(db: Db, scope: OrgScope, allowed: readonly string[]): Promise<AgentModel[]> {
    const { outside } = this.readers.get('agent') ?? {};
    return outside && allowed.length ? db.query(outside, [scope.orgId, allowed]) : [];
  }

  /** Agents (their drafts and what is live of them), prompt templates, deployed processes and rule sets that name a key, at most so many of each. */
  async naming(db: Db, keys: readonly string[], limit: number, orgId?: string): Promise<(ModelUser & { kind: ModelUserReader['kind'] })[]> {
    const users = [];
    for (const reader of this.readers.values())
      for (const user of await namingBy(reader, db, keys, limit, orgId)) users.push({ kind: reader.kind, ...user });
    return users;
  }

  /** Prompt templates that name one of the keys, at most so many. */
  async templatesNaming(db: Db, keys: readonly string[], limit: number): Promise<ModelUser[]> {
    const templates = this.readers.get('prompt_template');
    return templates ? namingBy(templates, db, keys, limit) : [];
  }

  /** How many prompt templates name each model. @param keys of these alone */
  async templatesCounted(db: Db, keys?: readonly string[]): Promise<Map<string, number>> {
    const templates = this.readers.get('prompt_template');
    const counted = templates ? await countedBy(templates, db, keys) : [];
    return new Map(counted.map(({ model_key, n }) => [model_key, n]));
  }

  /** Keys that an agent, a prompt template, a deployed process or a rule set names. @param keys of these alone */
  async named(db: Db, keys?: readonly string[]): Promise<Set<string>> {
    const named = new Set<string>();
    for (const reader of this.readers.values()) for (const { model_key } of await countedBy(reader, db, keys)) named.add(model_key);
    return named;
  }
}

const refsOf = ({ refOf }: ModelUserReader, keys: readonly string[]): readonly string[] => (refOf ? keys.map(refOf) : keys);

const namingBy = (reader: ModelUserReader, db: Db, keys: readonly string[], limit: number, orgId?: string): Promise<ModelUser[]> =>
  db.query(reader.naming, [refsOf(reader, keys), limit, orgId ?? null]);

const countedBy = (reader: ModelUserReader, db: Db, keys?: readonly string[]): Promise<ModelsCounted[]> =>
  reader.countedAll && !keys ? db.query(reader.countedAll, []) : db.query(reader.counted, [keys ? refsOf(reader, keys) : null]);
