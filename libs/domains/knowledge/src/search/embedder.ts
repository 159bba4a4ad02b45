import { Injectable } from '@nestjs/common';
import { InferenceError, InferenceSettings, ModelResolver, type ResolvedModel, type TextModels } from '@aps/inference';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { OwnModel } from './own-model.policy';
import { OWN, OwnModels } from './own-models.repository';
import { SearchCalls, type SearchWork, type Timed } from './search-calls';

const FEATURE = 'embedding';

/** A model for embeddings, of a provider or the platform's own. What two of the same space say of texts can be compared. */
export interface EmbeddingModel {
  model: ResolvedModel | OwnModel;
  space: string;
}

const STORE_NOTHING = (): Promise<void> => Promise.resolve();

const spaceOf = (key: string, remoteId: string): string => `${key}/${remoteId}`;
/** What may be the key of the model behind a space: keys, and names of models at providers, may have slashes themselves. */
const keysOf = (space: string): string[] => [...space.matchAll(/\//g)].map(({ index }) => space.slice(0, index));

/** Texts that a provider does not take, be it for their length or for what they say. Others it may take. */
export const REFUSED = Symbol('refused');
const REFUSALS = [400, 413, 422];

/**
 * Has models say what texts mean: metered as any call where one is named for it. Where none is, the platform does so by what it has learnt
 * of the organization's pieces: no text leaves, and it costs nothing.
 */
@Injectable()
export class Embedder {
  constructor(
    private readonly db: Database,
    private readonly settings: InferenceSettings,
    private readonly resolver: ModelResolver,
    private readonly calls: SearchCalls,
    private readonly own: OwnModels,
  ) {}

  /** The space of what the platform names, in which all vectors belong but those of organizations with models of their own; null where it names nothing. */
  async space(): Promise<string | null> {
    const named = await this.named();
    if (named === null) return null;
    const entry = await this.resolver.platformModel(FEATURE);
    return entry ? spaceOf(entry.key, entry.remote_model_id ?? entry.key) : spaceOf(named, '');
  }

  /**
   * @param space of an index that stands; without one, the model that is named now
   * @returns null where it cannot be called; where none is named, also as long as nothing was learnt
   */
  async model(orgId: string, space?: string): Promise<EmbeddingModel | null> {
    const isNamed = (await this.named()) !== null;
    const own = !isNamed || space?.startsWith(OWN) ? await this.own.of(orgId, space) : null;
    if (own || !isNamed) return own;
    for (const embeddingModel of space === undefined ? [undefined] : keysOf(space)) {
      const found = await this.resolved(orgId, embeddingModel);
      if (found && (space === undefined || found.space === space)) return found;
    }
    return null;
  }

  /**
   * Never inside a transaction.
   *
   * @param store what else is written with the receipt
   * @param timed says how long the provider has for it
   * @returns a vector of length 1 for each text; null where a gate is closed, or the provider does not answer; {@link REFUSED} where it does, and takes
   *   none of it
   */
  async embed(
    work: SearchWork,
    { model }: EmbeddingModel,
    texts: string[],
    timed: Timed,
    store: (tx: Tx, vectors: number[][]) => Promise<void> = STORE_NOTHING,
  ): Promise<number[][] | typeof REFUSED | null> {
    if (model instanceof OwnModel) {
      const said = texts.map((text) => model.embed(text));
      if (store !== STORE_NOTHING) await this.db.transaction(NO_CALLER, (tx) => store(tx, said));
      return said;
    }
    const call = { input: texts, feature: FEATURE };
    try {
      const embed = (models: TextModels) => timed((signal) => models.embed(model, call, { signal }));
      return (await this.calls.metered(work, FEATURE, model, texts, embed, (tx, { vectors }) => store(tx, vectors))).vectors;
    } catch (error) {
      if (error instanceof InferenceError && REFUSALS.includes(error.status ?? 0)) return REFUSED;
      if (error instanceof InferenceError || (error as Error).name === 'TimeoutError') return null;
      throw error;
    }
  }

  /**
   * What a query means, for somebody who waits for that. Never inside a transaction.
   *
   * @param ms what the provider has for it
   * @returns null as of {@link embed}, where the query is refused, and of a provider that has not answered several just now
   */
  async say(work: SearchWork, embedding: EmbeddingModel, query: string, ms: number): Promise<number[] | null> {
    const { model } = embedding;
    if (model instanceof OwnModel) return model.embed(query);
    const said = await this.calls.inTime(work, model, ms, (timed) => this.embed(work, embedding, [query], timed));
    return said && said !== REFUSED ? said[0] : null;
  }

  private async resolved(orgId: string, embeddingModel?: string): Promise<EmbeddingModel | null> {
    try {
      const model = await this.resolver.resolve({ orgId, scope: 'chat', feature: FEATURE, requested: { embeddingModel } });
      // One that is chosen because there is no other is none that anybody wants.
      return model.source === 'automatic' ? null : { model, space: spaceOf(model.entry.key, model.remote_model_id) };
    } catch (error) {
      if (error instanceof InferenceError) return null;
      throw error;
    }
  }

  /** The key that the platform names; null without one. */
  private async named(): Promise<string | null> {
    return (await this.settings.platformData()).settings.feature_models.embedding ?? null;
  }
}
