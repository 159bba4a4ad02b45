import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { loadConfig } from '@aps/platform/config';
import { sql, createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import { seedInference } from './seed';

describe('seedInference', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
  });
  afterEach(async () => {
    process.env.NODE_ENV = 'test';
    await database.drop();
  });
  const routes = () =>
    database.db.query(
      sql<{ slug: string; base_url: string; dialect: string }>('SELECT slug, base_url, dialect FROM inference_routes ORDER BY sort_order'),
    );
  const all = async () =>
    JSON.stringify(
      await Promise.all(
        ['inference_routes', 'model_catalog', 'platform_ai_settings'].map((t) => database.db.query(sql(`SELECT * FROM ${t} ORDER BY 1`))),
      ),
    );

  it('makes routes and models, once', async () => {
    await seedInference(database.db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' });
    expect(await routes()).toEqual([
      { slug: 'anthropic', base_url: 'https://api.anthropic.com/v1', dialect: 'dialect_2' },
      { slug: 'openai', base_url: 'https://api.openai.com/v1', dialect: 'dialect_1' },
      { slug: 'google', base_url: 'https://generativelanguage.googleapis.com/v1beta', dialect: 'dialect_3' },
      { slug: 'mock', base_url: 'http://127.0.0.1:4010/v1', dialect: 'dialect_1' },
    ]);
    expect(await database.db.query(sql('SELECT slug, gateway_provider_slug FROM inference_routes ORDER BY sort_order'))).toEqual([
      { slug: 'anthropic', gateway_provider_slug: 'anthropic/v1' },
      { slug: 'openai', gateway_provider_slug: null },
      { slug: 'google', gateway_provider_slug: 'google-ai-studio/v1beta' },
      { slug: 'mock', gateway_provider_slug: null },
    ]);
    const mocks = await database.db.query(
      sql(
        'SELECT key, kind, input_price_per_1m::float8 AS i, output_price_per_1m::float8 AS o, context_window AS c, supports_vision AS v FROM model_catalog WHERE provider = $1 ORDER BY sort_order',
      ),
      ['mock'],
    );
    expect(mocks).toEqual([
      { key: 'mock', kind: 'chat', i: 1, o: 2, c: 128_000, v: false },
      { key: 'mock-vision', kind: 'chat', i: 1, o: 2, c: 128_000, v: true },
      { key: 'mock-unpriced', kind: 'chat', i: null, o: null, c: 128_000, v: false },
      { key: 'mock-embedding', kind: 'embedding', i: 0.1, o: 0, c: 8_192, v: false },
    ]);
    const before = await all();
    await Promise.all([1, 2, 3].map(() => seedInference(database.db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' })));
    expect(await all()).toBe(before);
  });

  it('leaves an operator’s edits alone', async () => {
    const { db } = database;
    await seedInference(db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' });
    await db.execute(
      sql(`UPDATE inference_routes SET base_url = 'https://proxy.example/v1', enabled = false, label = 'Ours' WHERE slug = 'openai'`),
    );
    await db.execute(sql(`UPDATE inference_routes SET enabled = false, label = 'Ours' WHERE slug = 'anthropic'`));
    await db.execute(sql(`UPDATE model_catalog SET input_price_per_1m = 99, enabled = false WHERE key = 'gpt-6-sol'`));
    await db.execute(sql(`UPDATE platform_ai_settings SET default_model = 'x'`));
    await db.execute(sql(`DELETE FROM model_catalog WHERE provider IN ('mock', 'google')`));
    await db.execute(sql(`DELETE FROM inference_routes WHERE slug IN ('google', 'mock')`));
    const before = await all();
    await seedInference(db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' });
    expect(await all()).toBe(before);
  });

  it('follows the mock server to its new address, and nowhere without one', async () => {
    await seedInference(database.db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' });
    await seedInference(database.db, { mockBaseUrl: 'http://127.0.0.1:4011/v1' });
    await seedInference(database.db);
    expect((await routes()).at(-1)?.base_url).toBe('http://127.0.0.1:4011/v1');
  });

  it('makes no mock in production', async () => {
    process.env.NODE_ENV = 'production';
    loadConfig();
    await seedInference(database.db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' });
    expect((await routes()).map((r) => r.slug)).toEqual(['anthropic', 'openai', 'google']);
  });

  it('names each key once among what is enabled, and only models whose prices are known', async () => {
    await seedInference(database.db, { mockBaseUrl: 'http://127.0.0.1:4010/v1' });
    const rows = await database.db.query(
      sql<{ key: string }>(`SELECT key FROM model_catalog WHERE input_price_per_1m IS NULL OR output_price_per_1m IS NULL`),
    );
    expect(rows.map((r) => r.key)).toEqual(['mock-unpriced']);
  });
});
