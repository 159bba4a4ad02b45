import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { Embedder, REFUSED } from './embedder';
import { textOf } from './own-models.repository';
import { Reranker } from './reranker';
import type { SearchWork } from './search-calls';
import { SearchQueries, type Hit } from './search.queries';
import { fused, scoreOf } from './vectors.policy';
import { VectorsRepository, type Near } from './vectors.repository';

/** What a search has found. */
export interface Found {
  /** Whether it was looked for by meaning, too: vectors were compared. */
  mode: 'hybrid' | 'text';
  /** The best first. */
  hits: Hit[];
}

/** Whoever wants it found, where that is to be charged to a chat. */
export type Searcher = Pick<SearchWork, 'of' | 'budget' | 'charge'>;

/** Of each ranking so many places count. */
const RANKED = 100;
/** A provider that takes longer is not waited for: words find something, too. */
const EMBED_MS = 5_000;
/** So many of the best are put in a better order, where a model is named that does so. */
const RERANKED = 50;

/**
 * Looks for pieces of knowledge bases: by their words and, where they have vectors and their model answers, by what they mean. The best of them are put
 * in the order that a model gives them, where the platform names one.
 */
@Injectable()
export class KnowledgeSearch {
  constructor(
    private readonly db: Database,
    private readonly queries: SearchQueries,
    private readonly embedder: Embedder,
    private readonly vectors: VectorsRepository,
    private readonly reranker: Reranker,
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
    const most = Math.max(limit, RERANKED);
    const hits = near ? await this.fused(scope, near, worded, most) : worded.slice(0, most);
    return { mode: near ? 'hybrid' : 'text', hits: (await this.reranked(scope, query, hits, searcher)).slice(0, limit) };
  }

  private async fused(scope: OrgScope, near: string[], worded: Hit[], most: number): Promise<Hit[]> {
    const best = fused([near, worded.map(({ chunk_id }) => chunk_id)]).slice(0, most);
    const found = new Map((await this.queries.byId(scope, best.map(([id]) => id))).map((hit) => [hit.chunk_id, hit])); // prettier-ignore
    return best.flatMap(([id, score]) => (found.has(id) ? [{ ...found.get(id)!, score }] : []));
  }

  /** What models say of texts are no scores of one kind: theirs tell the order, and places the score. What they were not asked follows. */
  private async reranked(scope: OrgScope, query: string, hits: Hit[], searcher: Searcher): Promise<Hit[]> {
    const asked = hits.slice(0, RERANKED);
    const work = { orgId: scope.orgId, name: `search:${uuidv7()}`, ...searcher };
    const order = await this.reranker.order(work, query, asked.map(textOf));
    if (!order) return hits;
    const ordered = [...order.map((place) => asked[place]), ...hits.slice(RERANKED)];
    return ordered.map((hit, place) => ({ ...hit, score: scoreOf(place) }));
  }

  /** @returns ids of the pieces that mean something near, the nearest first; null where nothing has vectors, or the query gets none, as one without words */
  private async near(scope: OrgScope, kbIds: readonly string[] | null, query: string, searcher: Searcher): Promise<string[] | null> {
    const rankings: Near[][] = [];
    for (const space of await this.vectors.spaces(this.db, scope, kbIds)) {
      const model = await this.embedder.model(scope.orgId, space);
      if (!model) continue;
      const work = { orgId: scope.orgId, name: `search:${uuidv7()}`, ...searcher };
      const vectors = await this.embedder.embed(work, model, [query], EMBED_MS);
      const near = vectors && vectors !== REFUSED ? await this.vectors.near(this.db, scope, kbIds, space, vectors[0]) : null;
      if (near) rankings.push(near);
    }
    if (!rankings.length) return null;
    const nearest = rankings.flat().sort((a, b) => b.likeness - a.likeness);
    return nearest.slice(0, RANKED).map(({ chunk_id }) => chunk_id);
  }
}
