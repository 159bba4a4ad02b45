import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { Embedder } from './embedder';
import { textOf } from './own-models.repository';
import { Reranker } from './reranker';
import type { SearchWork } from './search-calls';
import { SearchQueries, type Hit } from './search.queries';
import { Late, Searching } from './searching';
import { fused, scoreOf } from './vectors.policy';
import { VectorsRepository } from './vectors.repository';

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
/** Whoever is refused may ask again after so long. */
const RETRY_S = 3;
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
    private readonly searching: Searching,
  ) {}

  /**
   * Never inside a transaction. Where words take too long, what means something near is the answer, and the other way round.
   *
   * @param kbIds bases to look in, those that are there; null for all of the organization
   * @param limit 1 to 100
   * @throws DomainError `service_unavailable` where both take too long, or there is nothing but words
   */
  async search(scope: OrgScope, kbIds: readonly string[] | null, query: string, limit: number, searcher: Searcher = {}): Promise<Found> {
    if (kbIds?.length === 0) return { mode: 'text', hits: [] };
    const [near, worded] = await Promise.all([
      this.near(scope, kbIds, query, searcher),
      this.searching.at('words', scope, (tx) => this.queries.byWords(tx, scope, kbIds, query, Math.max(limit, RANKED))),
    ]);
    if (!near && worded instanceof Late)
      // Where the database is slow, all else tells so.
      throw new DomainError('service_unavailable', 'The search takes too long right now. Try again.', {
        retryAfterS: RETRY_S,
        ofOne: worded.ofOne,
      });
    const words = worded instanceof Late ? [] : worded;
    const most = Math.max(limit, RERANKED);
    const hits = near ? await this.fused(scope, near, words, most) : words.slice(0, most);
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
    const spaces = await this.vectors.spaces(this.db, scope, kbIds);
    const rankings = await Promise.all(spaces.map((space) => this.nearIn(space, scope, kbIds, query, searcher)));
    if (rankings.every((ranking) => ranking === null)) return null;
    // How near something is in one space says nothing of another: their places are made one ranking, which counts as much as that of the words.
    return fused(rankings.map((ranking) => ranking ?? [])).slice(0, RANKED).map(([id]) => id); // prettier-ignore
  }

  private async nearIn(
    space: string,
    scope: OrgScope,
    kbIds: readonly string[] | null,
    query: string,
    searcher: Searcher,
  ): Promise<string[] | null> {
    const model = await this.embedder.model(scope.orgId, space);
    const work = { orgId: scope.orgId, name: `search:${uuidv7()}`, ...searcher };
    const vector = model && (await this.embedder.say(work, model, query, EMBED_MS));
    const near = vector && (await this.searching.at('meaning', scope, (tx) => this.vectors.near(tx, scope, kbIds, space, vector)));
    return near instanceof Late ? null : near;
  }
}
