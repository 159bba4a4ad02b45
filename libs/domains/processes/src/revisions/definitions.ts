import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { WeightedLru } from '@aps/platform/cache';
import { Database, type Db } from '@aps/platform/database';
import type { Definition } from '../definition';
import { WRITTEN } from './definitions.sql';
import { storedDefinition } from './revision.policy';

/** Definitions that one process keeps read, in bytes of their JSON; read they are a few times that. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** What revisions say, each read once: they never change. */
@Injectable()
export class Definitions {
  private readonly read = new WeightedLru<Definition>(CACHE_BYTES);

  constructor(private readonly db: Database) {}

  /** @throws DomainError `not_found`; `revision_invalid`, should it be none any more */
  async of(orgId: string, revisionId: string, db: Db = this.db): Promise<Definition> {
    const key = `${orgId}/${revisionId}`;
    const known = this.read.get(key);
    if (known) return known;
    const [row] = await db.query(WRITTEN, [orgId, revisionId]);
    if (!row) throw notFound('Revision');
    const definition = storedDefinition(row.definition);
    this.read.set(key, definition, row.size);
    return definition;
  }
}
