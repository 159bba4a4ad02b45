import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { Memory } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgTable, type Db, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { AgentsQueries } from './agents.queries';
import { Audit } from '@aps/platform/audit';

export const MAX_MEMORY_BYTES = 8 * 1024;

export interface MemoryOwner {
  kind: Memory['owner_kind'];
  id: string;
}

const NEWEST_FIRST = { created_at: 'DESC', id: 'DESC' } as const;
const ofOwner = ({ kind, id }: MemoryOwner) => ({ owner_kind: kind, owner_id: id });

/** What agents, teams and projects remember. */
@Injectable()
export class MemoriesService {
  private readonly memories = new OrgTable(Memory);

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly audit: Audit,
  ) {}

  /** The newest memories of an owner, newest first. */
  newest(db: Db, scope: OrgScope, owner: MemoryOwner, limit: number): Promise<Memory[]> {
    return this.memories.list(db, scope, ofOwner(owner), NEWEST_FIRST, limit);
  }

  page(db: Db, scope: OrgScope, owner: MemoryOwner, page: Slice): Promise<Listed<Memory>> {
    return this.memories.page(db, scope, ofOwner(owner), NEWEST_FIRST, page);
  }

  /**
   * Adds a memory of an owner that the caller knows to exist.
   *
   * @throws DomainError `validation_error` when it is larger than {@link MAX_MEMORY_BYTES}
   */
  async add(
    tx: Tx,
    scope: OrgScope,
    { owner, content, source }: { owner: MemoryOwner; content: string; source: Memory['source'] },
  ): Promise<Memory> {
    if (Buffer.byteLength(content) > MAX_MEMORY_BYTES) {
      const msg = `String should take at most ${MAX_MEMORY_BYTES} bytes`;
      throw new DomainError('validation_error', msg, { problems: [{ loc: ['body', 'content'], msg, type: 'string_too_long' }] });
    }
    const memory = await this.memories.insert(tx, scope, { ...ofOwner(owner), content, source, created_by: scope.actor.userId });
    await this.audit.record(tx, scope, 'memory.created', { kind: 'memory', id: memory.id }, { owner, source });
    return memory;
  }

  /** @throws DomainError `not_found` when the owner has no such memory */
  async remove(tx: Tx, scope: OrgScope, owner: MemoryOwner, id: string): Promise<void> {
    if (!(await this.memories.delete(tx, scope, { ...ofOwner(owner), id }))) throw notFound('Memory');
    await this.audit.record(tx, scope, 'memory.deleted', { kind: 'memory', id }, { owner });
  }

  async pageOfAgent(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<Memory>> {
    return this.page(this.db, scope, await this.ownerOf(this.db, scope, agentRef), page);
  }

  addToAgent(scope: OrgScope, agentRef: string, content: string): Promise<Memory> {
    return this.db.transaction(scope, async (tx) =>
      this.add(tx, scope, { owner: await this.ownerOf(tx, scope, agentRef), content, source: 'human' }),
    );
  }

  async removeFromAgent(scope: OrgScope, agentRef: string, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => this.remove(tx, scope, await this.ownerOf(tx, scope, agentRef), id));
  }

  private async ownerOf(db: Db, scope: OrgScope, agentRef: string): Promise<MemoryOwner> {
    return { kind: 'agent', id: await this.agents.idOf(scope, agentRef, db) };
  }
}
