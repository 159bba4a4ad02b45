import { addCredits, withCredits, withRateCard } from '@aps/billing/testing';
import { InferenceSettings } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { eventually, sql } from '@aps/platform/testing';
import { startMockModel, type MockModel } from '../../../../../tools/mock-model/server';
import { KnowledgeService, type TestBase } from '../testing';
import { Embedding } from './embedding.maintenance';

class EmbeddingService extends KnowledgeService {
  private model: MockModel;
  private named: string | null = null;

  override async start(): Promise<this> {
    this.model = await startMockModel();
    await super.start();
    const route_id = await addRoute(this, 'mock', { base_url: `${this.model.url}/v1` });
    const priced = { route_id, provider: 'mock', kind: 'embedding' as const, input_price_per_1m: '1000', output_price_per_1m: '0' };
    await addModel(this, 'first', { ...priced, remote_model_id: 'mock-embedding' });
    await addModel(this, 'second', { ...priced, remote_model_id: 'mock-embedding' });
    return this;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.model?.close();
  }

  /** The model that the platform names. */
  async name(embedding: string | null): Promise<void> {
    this.named = embedding;
    await this.db.execute(
      sql('INSERT INTO platform_ai_settings (id, feature_models) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET feature_models = $1'),
      [JSON.stringify(embedding === null ? {} : { embedding })],
    );
    this.get(InferenceSettings).drop(null);
  }

  async reachable(enabled: boolean): Promise<void> {
    await this.db.execute(sql('UPDATE inference_routes SET enabled = $1'), [enabled]);
    this.get(InferenceSettings).drop(null);
  }

  /** Gives vectors to whatever has none, also where that was just tried; the task of the service may be at it as well. */
  async fill(): Promise<void> {
    await this.db.execute(sql(`UPDATE knowledge_sources SET embed_at = now() WHERE embed_at < now() + interval '2 minutes'`));
    while (await this.get(Embedding).embedNext());
    if (this.named === null) return;
    const claimed = sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM knowledge_sources WHERE chunk_count > 0 AND embedded_as <> $1 AND embed_at > now() + interval '2 minutes'`,
    );
    await eventually(
      () => this.db.query(claimed, [this.named]),
      ([{ n }]) => n === 0,
    );
  }

  async vectors({ id }: TestBase): Promise<Record<string, number>> {
    const rows = await this.db.query(
      sql<{ model: string; n: number }>('SELECT model, count(*)::int AS n FROM knowledge_vectors WHERE kb_id = $1 GROUP BY 1'),
      [id],
    );
    return Object.fromEntries(rows.map(({ model, n }) => [model, n]));
  }

  async receipts({ org }: TestBase): Promise<{ model_key: string; priced: boolean }[]> {
    return this.db.query(
      sql<{ model_key: string; priced: boolean }>(
        `SELECT model_key, usd_cost > 0 AS priced FROM inference_receipts WHERE org_id = $1 AND feature = 'embedding' ORDER BY id`,
      ),
      [org.id],
    );
  }
}

const t = new EmbeddingService();
beforeAll(() => t.start());
afterAll(() => t.close());
beforeEach(() => t.name('first'));
const search = async (base: TestBase, query: string) => {
  const { body } = await t.asMember(base, 'POST', '/search', { query });
  return { mode: body.mode, titles: body.results.map(({ title }: { title: string }) => title) as string[] };
};
const withTexts = async (...titles: string[]) => {
  const base = await t.base();
  for (const title of titles) await t.settled(base, (await t.text(base, title, `All about ${title}s.`)).id);
  return base;
};
const embedded = async (base: TestBase) =>
  (await t.asMember(base, 'GET', '/sources')).body.map((source: { embedded: boolean }) => source.embedded);

describe('vectors', () => {
  it('take part in searches once all pieces of a base have them, and each call has its receipt', async () => {
    const base = await withTexts('zebra', 'lion');
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra'] });
    await t.fill();
    expect(await embedded(base)).toEqual([true, true]);
    const found = await search(base, 'zebra');
    expect([found.mode, found.titles[0]]).toEqual(['hybrid', 'zebra']);
    expect(await t.receipts(base)).toEqual(Array.from({ length: 3 }, () => ({ model_key: 'first', priced: true })));
    // What is indexed anew has none until it is given them, and is found by its words.
    const { id } = await t.text(base, 'tiger', 'All about tigers.');
    await t.settled(base, id);
    expect((await search(base, 'tiger')).titles[0]).toBe('tiger');
  });

  it('are neither made nor asked for where no model is named', async () => {
    await t.name(null);
    const base = await withTexts('zebra');
    await t.fill();
    expect(await embedded(base)).toEqual([false]);
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra'] });
    expect(await t.receipts(base)).toEqual([]);
  });

  it('follow when a gate opens that was closed, and searches by words go on meanwhile', async () => {
    await withRateCard(t);
    const base = await t.base();
    await withCredits(t, base.org.id, { granted: '0' });
    const { id } = await t.text(base, 'zebra', 'All about zebras.');
    await t.settled(base, id);
    await t.fill();
    expect(await t.source(base, id)).toMatchObject({ status: 'READY', embedded: false });
    await addCredits(t, base.org.id, '1000');
    await t.fill();
    expect([await embedded(base), (await search(base, 'zebra')).mode]).toEqual([[true], 'hybrid']);
  });

  it('are done without where their provider is away', async () => {
    const base = await withTexts('zebra');
    await t.fill();
    await t.reachable(false);
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra'] });
    const { id } = await t.text(base, 'lion', 'All about lions.');
    expect(await t.settled(base, id)).toMatchObject({ status: 'READY', embedded: false });
    await t.fill();
    await t.reachable(true);
    await t.fill();
    expect([await embedded(base), (await search(base, 'lion')).mode]).toEqual([[true, true], 'hybrid']);
  });

  it('of another model stand beside those of the first until all have come, and then alone', async () => {
    const base = await withTexts('zebra', 'lion');
    await t.fill();
    expect(await t.vectors(base)).toEqual({ 'first/mock-embedding': 2 });
    await t.name('second');
    await t.db.execute(
      sql(
        `UPDATE knowledge_sources SET embed_at = CASE title WHEN 'zebra' THEN now() ELSE now() + interval '90 seconds' END WHERE kb_id = $1`,
      ),
      [base.id],
    );
    await eventually(
      async () => (await t.get(Embedding).embedNext(), t.vectors(base)),
      (n) => 'second/mock-embedding' in n,
    );
    expect(await t.vectors(base)).toEqual({ 'first/mock-embedding': 2, 'second/mock-embedding': 1 });
    expect((await search(base, 'zebra')).mode).toBe('hybrid');
    expect((await t.receipts(base)).at(-1)!.model_key).toBe('first');
    await t.fill();
    expect(await t.vectors(base)).toEqual({ 'second/mock-embedding': 2 });
    expect((await search(base, 'zebra')).mode).toBe('hybrid');
    expect((await t.receipts(base)).at(-1)!.model_key).toBe('second');
  });
});
