import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

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
  readonly kind: 'agent' | 'prompt_template' | 'process' | 'inbox';
  /** Those that name one of the keys, at most so many. @param orgId of one organization alone */
  naming(db: Db, keys: readonly string[], limit: number, orgId?: string): Promise<ModelUser[]>;
  /** How many name each model; one that nothing names is left out. @param keys of these alone */
  counted(db: Db, keys?: readonly string[]): Promise<{ model_key: string; n: number }[]>;
  /** Agents that name a model which is not in the list. */
  agentsOutside?(db: Db, scope: OrgScope, allowed: readonly string[]): Promise<AgentModel[]>;
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
    return (allowed.length && (await this.readers.get('agent')?.agentsOutside?.(db, scope, allowed))) || [];
  }

  /** Agents (their drafts and what is live of them), prompt templates, deployed processes and rule sets that name a key, at most so many of each. */
  async naming(db: Db, keys: readonly string[], limit: number, orgId?: string): Promise<(ModelUser & { kind: ModelUserReader['kind'] })[]> {
    const users = [];
    for (const reader of this.readers.values())
      for (const user of await reader.naming(db, keys, limit, orgId)) users.push({ kind: reader.kind, ...user });
    return users;
  }

  /** Prompt templates that name one of the keys, at most so many. */
  async templatesNaming(db: Db, keys: readonly string[], limit: number): Promise<ModelUser[]> {
    return (await this.readers.get('prompt_template')?.naming(db, keys, limit)) ?? [];
  }

  /** How many prompt templates name each model. @param keys of these alone */
  async templatesCounted(db: Db, keys?: readonly string[]): Promise<Map<string, number>> {
    const counted = (await this.readers.get('prompt_template')?.counted(db, keys)) ?? [];
    return new Map(counted.map(({ model_key, n }) => [model_key, n]));
  }

  /** Keys that an agent, a prompt template, a deployed process or a rule set names. @param keys of these alone */
  async named(db: Db, keys?: readonly string[]): Promise<Set<string>> {
    const named = new Set<string>();
    for (const reader of this.readers.values()) for (const { model_key } of await reader.counted(db, keys)) named.add(model_key);
    return named;
  }
}
