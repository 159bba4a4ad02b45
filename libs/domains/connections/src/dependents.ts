import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { Connection } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

/** What uses a connection, by ids. */
export interface Dependents {
  agent_ids: string[];
  process_ids: string[];
  sync_config_ids: string[];
  team_ids: string[];
  project_ids: string[];
}

export type NamedConnection = Pick<Connection, 'id' | 'slug'>;

/** A domain above, of which some things use connections. */
export interface ConnectionUsers {
  /** @returns by id of the connection what names it; those that nothing names need not be there */
  of(db: Db, scope: OrgScope, connections: readonly NamedConnection[]): Promise<Map<string, Partial<Dependents>>>;
  /** How many agents may use every tool there is, whoever it belongs to. */
  wildcards?(db: Db, scope: OrgScope): Promise<number>;
}

const NOBODY: Dependents = { agent_ids: [], process_ids: [], sync_config_ids: [], team_ids: [], project_ids: [] };

/** Finds out what uses connections. Domains above register what is theirs when they start. */
@Injectable()
export class ConnectionDependents {
  private readonly users: ConnectionUsers[] = [];

  register(users: ConnectionUsers): void {
    this.users.push(users);
  }

  /** Of each connection, by its id. */
  async ofEach(db: Db, scope: OrgScope, connections: readonly NamedConnection[]): Promise<Map<string, Dependents>> {
    const found = connections.length ? await oneByOne(this.users, (users) => users.of(db, scope, connections)) : [];
    return new Map(
      connections.map(({ id }): [string, Dependents] => {
        const parts = found.map((byId) => byId.get(id) ?? {});
        const all = (kind: keyof Dependents) => parts.flatMap((part) => part[kind] ?? []);
        return [id, Object.fromEntries((Object.keys(NOBODY) as (keyof Dependents)[]).map((kind) => [kind, all(kind)])) as never];
      }),
    );
  }

  /** Of one, as `ofEach`; null where there are none. */
  async of(db: Db, scope: OrgScope, connection: NamedConnection): Promise<Dependents | null> {
    const dependents = (await this.ofEach(db, scope, [connection])).get(connection.id)!;
    return Object.values(dependents).some((ids: string[]) => ids.length > 0) ? dependents : null;
  }

  /** @throws DomainError 409 `has_dependents`, naming them */
  async refuseUsed(db: Db, scope: OrgScope, connection: NamedConnection): Promise<void> {
    const dependents = await this.of(db, scope, connection);
    if (!dependents) return;
    throw new DomainError('has_dependents', 'Others use this connection. Acknowledge that they lose it, or take it from them first.', {
      context: { ...dependents },
    });
  }

  /** How many agents may use every tool there is. */
  async wildcards(db: Db, scope: OrgScope): Promise<number> {
    const counts = await oneByOne(this.users, (users) => users.wildcards?.(db, scope) ?? Promise.resolve(0));
    return counts.reduce((sum, n) => sum + n, 0);
  }
}

/** A transaction has one connection to the database, which takes one question at a time. */
async function oneByOne<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}
