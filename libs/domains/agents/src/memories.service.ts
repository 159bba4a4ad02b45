import { Injectable } from '@nestjs/common';
import { invalid } from '@aps/contracts';
import { Entitlements } from '@aps/billing';
import { listTally, Memory } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, OrgTable, type Db, type Listed, type Lock, type Slice, type Tx } from '@aps/platform/database';
import { AgentsQueries } from './agents.queries';
import { PROJECTS, TEAMS } from './sharing/blocks.sql';

/** Of what one memory says. */
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
  private readonly memories = new OrgTable(Memory, 'Memory', {
    from: listTally('memories'),
    where: { owner_id: 't.of_id = $', owner_kind: 't.facet = $' },
  });

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly entitlements: Entitlements,
    private readonly audit: Audit,
  ) {}

  /** The newest memories of an owner, newest first. */
  newest(db: Db, scope: OrgScope, owner: MemoryOwner, limit: number): Promise<Memory[]> {
    return this.memories.list(db, scope, ofOwner(owner), NEWEST_FIRST, limit);
  }

  /**
   * Adds a memory of an owner that the caller knows to exist.
   *
   * @throws DomainError `validation_error` when it is larger than {@link MAX_MEMORY_BYTES}
   */
  async add(tx: Tx, scope: OrgScope, memory: { owner: MemoryOwner } & Pick<Memory, 'content' | 'source'>): Promise<Memory> {
    const { owner, content, source } = memory;
    requireFitting(content);
    const made = await this.memories.insert(tx, scope, { ...ofOwner(owner), content, source, created_by: scope.actor.userId });
    await this.audit.record(tx, scope, 'memory.created', made.id, { owner, source });
    return made;
  }

  /** @param ref an id or a slug, as of every method here */
  async page(scope: OrgScope, kind: MemoryOwner['kind'], ref: string, page: Slice): Promise<Listed<Memory>> {
    return this.memories.page(this.db, scope, ofOwner(await this.ownerOf(this.db, scope, kind, ref)), NEWEST_FIRST, page);
  }

  /** Gives an agent a memory. */
  async give(scope: OrgScope, agentRef: string, content: string): Promise<Memory> {
    requireFitting(content);
    return this.db.transaction(scope, async (tx) =>
      this.add(tx, scope, { owner: await this.ownerOf(tx, scope, 'agent', agentRef), content, source: 'human' }),
    );
  }

  /** Gives one to all agents of a team or a project. @throws DomainError `entitlement_required` */
  async share(scope: OrgScope, kind: 'team' | 'project', ref: string, content: string): Promise<Memory> {
    requireFitting(content);
    return this.db.transaction(scope, async (tx) => {
      // Held: or it would outlive one that is deleted in the same moment.
      const owner = await this.ownerOf(tx, scope, kind, ref, 'for key share');
      await this.entitlements.require(scope.orgId, 'shared_blocks', tx);
      return this.add(tx, scope, { owner, content, source: 'human' });
    });
  }

  /** @throws DomainError `not_found` when the owner has no such memory */
  async remove(scope: OrgScope, kind: MemoryOwner['kind'], ref: string, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const owner = await this.ownerOf(tx, scope, kind, ref);
      await this.memories.remove(tx, scope, { ...ofOwner(owner), id });
      await this.audit.record(tx, scope, 'memory.deleted', id, { owner });
    });
  }

  private async ownerOf(db: Db, scope: OrgScope, kind: MemoryOwner['kind'], ref: string, lock?: Lock): Promise<MemoryOwner> {
    if (kind === 'agent') return { kind, id: await this.agents.idOf(scope, ref, db) };
    return { kind, id: (await (kind === 'team' ? TEAMS : PROJECTS).rows.get(db, scope, ref, lock)).id };
  }
}

/** @throws DomainError `validation_error` */
function requireFitting(content: string): void {
  if (Buffer.byteLength(content) > MAX_MEMORY_BYTES)
    throw invalid({ loc: ['body', 'content'], msg: `String should take at most ${MAX_MEMORY_BYTES} bytes`, type: 'string_too_long' });
}
