import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import type { Memory } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, type Db, type Slice, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { AgentsRepository } from './agents.repository';
import { Audit } from '@aps/platform/audit';
import { MemoriesRepository, type MemoryOwner } from './memories.repository';

export const MAX_MEMORY_BYTES = 8 * 1024;

/** What agents, teams and projects remember. */
@Injectable()
export class MemoriesService {
  constructor(
    private readonly db: Database,
    private readonly memories: MemoriesRepository,
    private readonly agents: AgentsRepository,
    private readonly audit: Audit,
  ) {}

  /** The newest memories of an owner, newest first. */
  newest(db: Db, scope: OrgScope, owner: MemoryOwner, limit: number): Promise<Memory[]> {
    return this.memories.newest(db, scope, owner, { limit });
  }

  async page(db: Db, scope: OrgScope, owner: MemoryOwner, page: Slice): Promise<{ items: Memory[]; total: number }> {
    return { items: await this.memories.newest(db, scope, owner, page), total: await this.memories.count(db, scope, owner) };
  }

  /**
   * Adds a memory of an owner that the caller knows to exist.
   *
   * @throws DomainError `validation_error` when it is larger than {@link MAX_MEMORY_BYTES}
   */
  async add(tx: Tx, scope: OrgScope, memory: { owner: MemoryOwner; content: string; source: Memory['source'] }): Promise<Memory> {
    if (Buffer.byteLength(memory.content) > MAX_MEMORY_BYTES) {
      const msg = `String should take at most ${MAX_MEMORY_BYTES} bytes`;
      throw new DomainError('validation_error', msg, { problems: [{ loc: ['body', 'content'], msg, type: 'string_too_long' }] });
    }
    const row = await this.memories.insert(tx, scope, { id: uuidv7(), ...memory });
    await this.audit.record(tx, scope, 'memory.created', { kind: 'memory', id: row.id }, { owner: memory.owner, source: memory.source });
    return row;
  }

  /** @throws DomainError `not_found` when the owner has no such memory */
  async remove(tx: Tx, scope: OrgScope, owner: MemoryOwner, id: string): Promise<void> {
    if (!(await this.memories.delete(tx, scope, owner, id))) throw notFound('Memory');
    await this.audit.record(tx, scope, 'memory.deleted', { kind: 'memory', id }, { owner });
  }

  async pageOfAgent(scope: OrgScope, agentRef: string, page: Slice): Promise<{ items: Memory[]; total: number }> {
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
    return { kind: 'agent', id: await this.agents.idOf(db, scope, agentRef) };
  }
}
