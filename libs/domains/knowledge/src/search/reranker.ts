import { Injectable } from '@nestjs/common';
import { InferenceError, InferenceSettings, ModelResolver, type ResolvedModel, type TextModels } from '@aps/inference';
import { SearchCalls, type SearchWork } from './search-calls';

const FEATURE = 'rerank';
/** A provider that takes longer is not waited for: what was found is in an order already. */
const RERANK_MS = 5_000;

/** Has a model say which texts answer a question best, where the platform names one for it. */
@Injectable()
export class Reranker {
  constructor(
    private readonly settings: InferenceSettings,
    private readonly resolver: ModelResolver,
    private readonly calls: SearchCalls,
  ) {}

  /**
   * Never inside a transaction.
   *
   * @returns places in `documents`, the best first; null where no model is named, its gate is closed, or it does not answer, or has not several just now
   */
  async order(work: SearchWork, query: string, documents: string[]): Promise<number[] | null> {
    if (documents.length < 2) return null;
    try {
      const model = await this.model(work.orgId);
      if (!model) return null;
      const call = { query, documents, feature: FEATURE };
      const texts = documents.map((document) => query + document);
      return await this.calls.inTime(work, model, RERANK_MS, async (timed) => {
        const rerank = (models: TextModels) => timed((signal) => models.rerank(model, call, { signal }));
        return (await this.calls.metered(work, FEATURE, model, texts, rerank)).order;
      });
    } catch (error) {
      if (error instanceof InferenceError || (error as Error).name === 'TimeoutError') return null;
      throw error;
    }
  }

  private async model(orgId: string): Promise<ResolvedModel | null> {
    if (!(await this.settings.platformData()).settings.feature_models[FEATURE]) return null;
    const model = await this.resolver.resolve({ orgId, scope: 'chat', feature: FEATURE });
    // One that is chosen because there is no other is none that anybody wants.
    return model.source === 'automatic' ? null : model;
  }
}
