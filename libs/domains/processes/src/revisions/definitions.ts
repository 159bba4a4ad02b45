import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { WeightedLru } from '@aps/platform/cache';
import { Database, type Db } from '@aps/platform/database';
import type { Definition } from '../definition';
import { WRITTEN } from './definitions.sql';
import { storedDefinition } from './revision.policy';

/** Definitions that one process keeps read, in bytes of their JSON and SOPs; read they are a few times that. */
const CACHE_BYTES = 16 * 1024 * 1024;

interface Written {
  definition: Definition;
  sop: string | null;
}

/** What revisions say, each read once: they never change. */
@Injectable()
export class Definitions {
  private readonly read = new WeightedLru<Written>(CACHE_BYTES);

  constructor(private readonly db: Database) {}

  /** @throws DomainError `not_found`; `revision_invalid`, should it be none any more */
  async of(orgId: string, revisionId: string, db: Db = this.db): Promise<Definition> {
    return (await this.written(db, orgId, revisionId)).definition;
  }

  /** The same in words. @throws DomainError as {@link of} */
  async sopOf(orgId: string, revisionId: string, db: Db = this.db): Promise<string | null> {
    return (await this.written(db, orgId, revisionId)).sop;
  }

  private async written(db: Db, orgId: string, revisionId: string): Promise<Written> {
    const key = `${orgId}/${revisionId}`;
    const known = this.read.get(key);
    if (known) return known;
    const [row] = await db.query(WRITTEN, [orgId, revisionId]);
    if (!row) throw notFound('Revision');
    const written = { definition: storedDefinition(row.definition), sop: row.sop_text };
    this.read.set(key, written, row.size);
    return written;
  }
}
