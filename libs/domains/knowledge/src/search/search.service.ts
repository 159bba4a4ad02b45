import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { Embedder, REFUSED, type EmbeddingWork } from './embedder';
import { SearchQueries, type Hit } from './search.queries';
import { fused } from './vectors.policy';
import { VectorsRepository, type Near } from './vectors.repository';

/** What a search has found. */
export interface Found {
  /** Whether it was looked for by meaning, too. */
  mode: 'hybrid' | 'text';
  /** The best first. */
  hits: Hit[];
}

/** Whoever wants it found, where that is to be charged to a chat. */
export type Searcher = Pick<EmbeddingWork, 'of' | 'budget' | 'charge'>;

/** Of each ranking so many places count. */
const RANKED = 100;
/** A provider that takes longer is not waited for: words find something, too. */
const EMBED_MS = 5_000;

/** Looks for pieces of knowledge bases: by their words and, where they have vectors and their model answers, by what they mean. */
@Injectable()
export class KnowledgeSearch {
  constructor(
    private readonly db: Database,
    private readonly queries: SearchQueries,
    private readonly embedder: Embedder,
    private readonly vectors: VectorsRepository,
  ) {}

  /**
   * Never inside a transaction.
   *
   * @param kbIds bases to look in, those that are there; null for all of the organization
   * @param limit 1 to 100
   */
  async search(scope: OrgScope, kbIds: readonly string[] | null, query: string, limit: number, searcher: Searcher = {}): Promise<Found> {
    if (kbIds?.length === 0) return { mode: 'text', hits: [] };
    const [near, worded] = await Promise.all([
      this.near(scope, kbIds, query, searcher),
      this.queries.byWords(scope, kbIds, query, Math.max(limit, RANKED)),
    ]);
    if (!near) return { mode: 'text', hits: worded.slice(0, limit) };
    const best = fused([near, worded.map(({ chunk_id }) => chunk_id)]).slice(0, limit);
    const found = new Map((await this.queries.byId(scope, best.map(([id]) => id))).map((hit) => [hit.chunk_id, hit])); // prettier-ignore
    return { mode: 'hybrid', hits: best.flatMap(([id, score]) => (found.has(id) ? [{ ...found.get(id)!, score }] : [])) };
  }

  /** @returns ids of the pieces that mean something near, the nearest first; null where nothing has vectors, or the query gets none */
  private async near(scope: OrgScope, kbIds: readonly string[] | null, query: string, searcher: Searcher): Promise<string[] | null> {
    const rankings: Near[][] = [];
    for (const space of await this.vectors.spaces(this.db, scope, kbIds)) {
      const model = await this.embedder.model(scope.orgId, space);
      if (!model) continue;
      const work = { orgId: scope.orgId, name: `search:${uuidv7()}`, ...searcher };
      const vectors = await this.embedder.embed(work, model, [query], EMBED_MS);
      if (vectors && vectors !== REFUSED) rankings.push(await this.vectors.near(this.db, scope, kbIds, space, vectors[0]));
    }
    if (!rankings.length) return null;
    const nearest = rankings.flat().sort((a, b) => b.likeness - a.likeness);
    return nearest.slice(0, RANKED).map(({ chunk_id }) => chunk_id);
  }
}
