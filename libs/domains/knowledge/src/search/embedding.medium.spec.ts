import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { addCredits, withCredits, withRateCard } from '@aps/billing/testing';
import { InferenceSettings } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { eventually, sql } from '@aps/platform/testing';
import { startMockModel, type MockModel } from '../../../../../tools/mock-model/server';
import { KnowledgeService, type TestBase } from '../testing';
import { Embedding } from './embedding.maintenance';
import { OwnModels, textOf as pieceTextOf } from './own-models.repository';
import { SearchCalls } from './search-calls';
import { Searching } from './searching';
import { unpacked } from './vectors.policy';

/** As gateways call models: a key with a slash. */
const FIRST = 'gateway/first';
const SECOND = 'gateway/second';
const RANKING = 'ranking';

class EmbeddingService extends KnowledgeService {
  private model: MockModel;
  private held: { word: string; until: Promise<void> } | null = null;
  private readonly asked: string[] = [];
  /** Texts that the model does not take. */
  refuses: (text: string) => boolean = () => false;
  /** What stands before the model, and holds what it is asked. */
  private readonly before = http.createServer((request, response) => void this.forward(request, response));

  override async start(): Promise<this> {
    this.model = await startMockModel();
    await new Promise<void>((listening) => this.before.listen(0, '127.0.0.1', listening));
    await super.start();
    // What rests is tried again at once.
    for (const resting of [Embedding, SearchCalls]) Object.assign(this.get<object>(resting), { restMs: 0 });
    const base_url = `http://127.0.0.1:${(this.before.address() as AddressInfo).port}/v1`;
    const route_id = await addRoute(this, 'mock', { base_url });
    const priced = { route_id, provider: 'mock', kind: 'embedding' as const, input_price_per_1m: '1000', output_price_per_1m: '0' };
    const replacement_model_id = await addModel(this, SECOND, { ...priced, remote_model_id: 'mock-embedding' });
    await addModel(this, RANKING, { ...priced, kind: 'rerank' });
    await addModel(this, FIRST, { ...priced, remote_model_id: 'mock-embedding', replacement_model_id });
    return this;
  }

  private async forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = await textOf(request);
    this.asked.push(body);
    if (this.held && body.includes(this.held.word)) await this.held.until;
    const { input, documents } = JSON.parse(body) as { input?: string[]; documents?: string[] };
    if ((input ?? documents)!.some((text) => this.refuses(text)))
      return void response.writeHead(400).end('{"error":{"message":"input is not taken"}}');
    const answer = await fetch(this.model.url + request.url!, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  }

  /** Lets calls with a word wait. @returns what lets them go on, and how many there were */
  hold(word: string): { letGo: () => void; calls: () => number } {
    let letGo: () => void = () => undefined;
    const from = this.asked.length;
    this.held = { word, until: new Promise((resolve) => (letGo = resolve)) };
    return { letGo, calls: () => this.asked.slice(from).filter((body) => body.includes(word)).length };
  }

  override async close(): Promise<void> {
    await super.close();
    this.before.close();
    await this.model?.close();
  }

  /** The models that the platform names. */
  async name(embedding: string | null, rerank: string | null = null): Promise<void> {
    await this.db.execute(
      sql('INSERT INTO platform_ai_settings (id, feature_models) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET feature_models = $1'),
      [JSON.stringify({ ...(embedding !== null && { embedding }), ...(rerank !== null && { rerank }) })],
    );
    this.get(InferenceSettings).drop(null);
  }

  async reachable(enabled: boolean): Promise<void> {
    await this.db.execute(sql('UPDATE inference_routes SET enabled = $1'), [enabled]);
    this.get(InferenceSettings).drop(null);
  }

  /** Whether models of a name can be chosen. */
  async enable(key: string, enabled: boolean): Promise<void> {
    await this.db.execute(sql('UPDATE model_catalog SET enabled = $2 WHERE key = $1'), [key, enabled]);
    this.get(InferenceSettings).drop(null);
  }

  /** Takes all texts again, and leaves nothing behind that would be given vectors, by another model for each of the following. */
  async clear(): Promise<void> {
    this.refuses = () => false;
    await this.db.execute(sql('UPDATE knowledge_bases SET deleted_at = now() WHERE deleted_at IS NULL'));
  }

  /** Leaves a source out for a while. */
  async delay({ id }: TestBase, title: string): Promise<void> {
    await this.db.execute(sql(`UPDATE knowledge_sources SET embed_at = now() + interval '90 seconds' WHERE kb_id = $1 AND title = $2`), [
      id,
      title,
    ]);
  }

  /** Has the task of the service, which is at it each five seconds, give no vectors. @returns lets it */
  holdTask(): () => void {
    const task = jest.spyOn(this.get(Embedding), 'embedNext').mockResolvedValue(0);
    return () => task.mockRestore();
  }

  /** Gives vectors to whatever lacks them, but what is left out; the task of the service may be at it as well. */
  async embed(): Promise<void> {
    const claimed = sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id
       WHERE s.chunk_count > 0 AND s.embed_at > now() + interval '2 minutes' AND b.deleted_at IS NULL`,
    );
    // Whoever else was at it may have had to make room for others.
    do {
      while (await this.get(Embedding).embedNext());
      await eventually(
        () => this.db.query(claimed),
        ([{ n }]) => n === 0,
      );
    } while (await this.get(Embedding).embedNext());
    await this.get(Embedding).tidy();
  }

  /** The same of what is left out. */
  async fill(): Promise<void> {
    await this.db.execute(sql(`UPDATE knowledge_sources SET embed_at = now() WHERE embed_at < now() + interval '2 minutes'`));
    await this.embed();
  }

  /** Has the platform learn whatever there is to learn; the task of the service may be at it as well. */
  async learn(): Promise<void> {
    while (await this.get(Embedding).learnNext());
  }

  /** Which models the platform has of the pieces of an organization, the newest first. */
  async learnt({ org }: TestBase): Promise<string[]> {
    const rows = await this.db.query(
      sql<{ version: string }>('SELECT version FROM knowledge_own_models WHERE org_id = $1 ORDER BY learnt_at DESC'),
      [org.id],
    );
    return rows.map(({ version }) => version);
  }

  /** As if there were four times as many pieces by now as it was learnt from. */
  async grow({ org }: TestBase): Promise<void> {
    await this.db.execute(sql('UPDATE knowledge_own_models SET pieces = pieces / 4 WHERE org_id = $1'), [org.id]);
  }

  /** Pieces of a base, each with what its vector of a space is, and what the model that is there now says of it. */
  async said({ id, org }: TestBase): Promise<{ is: number[] | null; now: number[] }[]> {
    const rows = await this.db.query(
      sql<{ content: string; heading_path: string[]; vector: Buffer | null }>(
        `SELECT c.content, c.heading_path, v.vector FROM knowledge_chunks c LEFT JOIN knowledge_vectors v ON v.chunk_id = c.id WHERE c.kb_id = $1`,
      ),
      [id],
    );
    const known = await this.get(OwnModels).of(org.id);
    return rows.map((row) => ({ is: row.vector && unpacked(row.vector), now: known!.model.embed(pieceTextOf(row)) }));
  }

  async vectors({ id }: TestBase): Promise<Record<string, number>> {
    const rows = await this.db.query(
      sql<{ model: string; n: number }>('SELECT model, count(*)::int AS n FROM knowledge_vectors WHERE kb_id = $1 GROUP BY 1'),
      [id],
    );
    return Object.fromEntries(rows.map(({ model, n }) => [model, n]));
  }

  async receipts({ org }: TestBase, feature = 'embedding'): Promise<{ model_key: string; priced: boolean }[]> {
    return this.db.query(
      sql<{ model_key: string; priced: boolean }>(
        `SELECT model_key, usd_cost > 0 AS priced FROM inference_receipts WHERE org_id = $1 AND feature = $2 ORDER BY id`,
      ),
      [org.id, feature],
    );
  }
}

const t = new EmbeddingService();
beforeAll(() => t.start());
afterAll(() => t.close());
beforeEach(() => t.name(FIRST));
afterEach(() => {
  jest.restoreAllMocks();
  return t.clear();
});
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
    const letTask = t.holdTask();
    const base = await withTexts('zebra', 'lion');
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra'] });
    letTask();
    await t.fill();
    expect(await embedded(base)).toEqual([true, true]);
    const found = await search(base, 'zebra');
    expect([found.mode, found.titles[0]]).toEqual(['hybrid', 'zebra']);
    expect(await t.receipts(base)).toEqual(Array.from({ length: 3 }, () => ({ model_key: FIRST, priced: true })));
    // What is indexed anew has none until it is given them, and is found by its words.
    const { id } = await t.text(base, 'tiger', 'All about tigers.');
    await t.settled(base, id);
    expect((await search(base, 'tiger')).titles[0]).toBe('tiger');
  });

  it('are what a search goes by that words take too long for', async () => {
    const base = await withTexts('ibex', 'lynx');
    await t.fill();
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const held = [1, 2].map(() => t.get(Searching).at('words', { orgId: base.org.id }, () => gate));
    const found = await search(base, 'All about ibexs.');
    letGo();
    expect([found.mode, found.titles[0]]).toEqual(['hybrid', 'ibex']);
    await Promise.all(held);
  });

  describe('where no model is named', () => {
    beforeEach(() => t.name(null));
    const MONEY = 'invoice payment overdue sum reminder bank account interest credit due'.split(' ');
    const ANIMALS = 'hamster seed rodent burrow fur paw whisker cage wheel nest'.split(' ');
    /** Two hundred pieces by turns of either, some of money with a debtor, which is found in no other. */
    const withPieces = async () => {
      const base = await withTexts('zebra');
      const section = (i: number) => {
        const words = i % 2 ? ANIMALS : MONEY;
        const said = Array.from({ length: 250 }, (_, j) => words[(i * 7 + j * j + (j >> 2)) % words.length]);
        return `# ${i % 20 ? i : `debtor ${i}`}\n\n${said.join(' ')}`;
      };
      const { id } = await t.text(base, 'all', Array.from({ length: 200 }, (_, i) => section(i)).join('\n\n'));
      await t.settled(base, id);
      return base;
    };

    it('are not made of less than there is to learn from', async () => {
      const base = await withTexts('zebra');
      await t.learn();
      await t.fill();
      expect(await embedded(base)).toEqual([false]);
      expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra'] });
    });

    it('are made by what the platform has learnt, which costs nothing and asks nobody; and are those of a model when one is named', async () => {
      const { calls, letGo } = t.hold('');
      letGo();
      const base = await withPieces();
      await t.learn();
      const learnt = await t.learnt(base);
      await t.learn();
      expect([learnt, await t.learnt(base)]).toEqual([[expect.any(String)], learnt]);
      await t.fill();
      expect(await embedded(base)).toEqual([true, true]);
      const found = await search(base, 'zebra');
      expect([found.mode, found.titles[0]]).toEqual(['hybrid', 'zebra']);
      expect([await t.receipts(base), calls()]).toEqual([[], 0]);
      // Whoever wants it while it is loaded has the same.
      const own = new OwnModels(t.db);
      const loaded = await Promise.all(Array.from({ length: 10 }, () => own.of(base.org.id)));
      expect(new Set([...loaded, await own.of(base.org.id)].map((each) => each?.model)).size).toBe(1);
      // Nothing can be said of what has no words.
      expect(await search(base, '… !')).toEqual({ mode: 'text', titles: [] });
      await t.name(FIRST);
      expect((await search(base, 'zebra')).mode).toBe('hybrid');
      await t.fill();
      expect(Object.keys(await t.vectors(base))).toEqual([`${FIRST}/mock-embedding`]);
      await t.learn();
      expect(await t.learnt(base)).toEqual([]);
      await t.name(null);
      expect((await search(base, 'zebra')).mode).toBe('text');
    });

    it('stay until all have come by what was learnt anew, which searches use from then on; and then what was learnt before is gone', async () => {
      const base = await withPieces();
      const [zebra, all] = (await t.asMember(base, 'GET', '/sources')).body.reverse();
      await t.learn();
      await t.fill();
      const before = await t.vectors(base);
      const [first] = await t.learnt(base);
      expect(before).toEqual({ [`own/${first}`]: 1 + all.chunk_count });
      await t.grow(base);
      await t.learn();
      const [second, ...others] = await t.learnt(base);
      expect(others).toEqual([first]);
      expect(await search(base, 'zebra')).toMatchObject({ mode: 'hybrid' });
      await t.delay(base, 'all');
      await t.embed();
      expect(await t.vectors(base)).toEqual({ ...before, [`own/${second}`]: 1 });
      expect((await search(base, 'zebra')).mode).toBe('hybrid');
      // Nobody forgets by what searches go, however long that takes, nor deletes what is begun, be no source done yet.
      await t.db.execute(sql(`UPDATE knowledge_own_models SET learnt_at = learnt_at - interval '1 hour' WHERE org_id = $1`), [base.org.id]);
      await t.learn();
      await t.delay(base, 'zebra');
      await t.db.execute(sql('UPDATE knowledge_sources SET embedded_as = $2 WHERE id = $1'), [zebra.id, `own/${first}`]);
      await t.get(Embedding).tidy();
      expect([await t.learnt(base), await t.vectors(base)]).toEqual([[second, first], { ...before, [`own/${second}`]: 1 }]);
      await t.fill();
      expect([await t.vectors(base), (await search(base, 'zebra')).mode]).toEqual([{ [`own/${second}`]: 1 + all.chunk_count }, 'hybrid']);
      await t.learn();
      expect(await t.learnt(base)).toEqual([second]);
      expect((await t.source(base, zebra.id)).embedded).toBe(true);
    });

    it('find what stands in the company of a word where the word itself does not', async () => {
      const base = await withPieces();
      await t.learn();
      await t.fill();
      const { body } = await t.asMember(base, 'POST', '/search', { query: 'debtor', limit: 50 });
      const found = body.results.map(({ content }: { content: string }) => content) as string[];
      expect([body.mode, found.length, found.filter((content) => content.includes('debtor')).length]).toEqual(['hybrid', 50, 10]);
      expect(found.filter((content) => content.includes('hamster'))).toEqual([]);
    });

    it('are all there, and of one model, where several learn at once while others give vectors', async () => {
      const base = await withPieces();
      const learnAll = () => Promise.all(Array.from({ length: 2 }, () => t.get(OwnModels).learn({ org_id: base.org.id, pieces: 201 })));
      const count = async () => (await t.asMember(base, 'GET', '')).body.chunk_count as number;
      await learnAll();
      const learnt = await t.learnt(base);
      await t.grow(base);
      await Promise.all([learnAll(), t.fill()]);
      expect(await t.learnt(base)).toEqual([expect.any(String), ...learnt]);
      await t.fill();
      const said = await t.said(base);
      expect([await embedded(base), said.length]).toEqual([[true, true], await count()]);
      expect(Math.max(...said.flatMap(({ is, now }) => is!.map((value, i) => Math.abs(value - now[i]))))).toBeLessThan(5e-6);
    });
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

  it('come to all but what their provider does not take, of which they say how it begins, if that', async () => {
    const base = await t.base();
    t.refuses = (text) => text.length > 400 || text.includes('unspeakable');
    for (const [title, content] of [
      ['zebra', 'All about zebras.'],
      ['lion', 'All about lions. '.repeat(60)],
      ['beast', 'An unspeakable beast.'],
    ])
      await t.settled(base, (await t.text(base, title, content)).id);
    await t.fill();
    expect([await embedded(base), await t.vectors(base)]).toEqual([[true, true, true], { [`${FIRST}/mock-embedding`]: 3 }]);
    expect((await search(base, 'lion')).mode).toBe('hybrid');
    expect((await search(base, 'beast')).titles[0]).toBe('beast');
    await t.name(SECOND);
    await t.fill();
    expect(await t.vectors(base)).toEqual({ [`${SECOND}/mock-embedding`]: 3 });
  });

  it('are asked for no longer than their source is claimed, where their provider takes long to refuse', async () => {
    const base = await t.base();
    const now = performance.now.bind(performance);
    let late = 0;
    t.refuses = (text) => {
      if (text.length <= 400) return false;
      // So long as if somebody else could have taken the source up; the next time it is quick.
      late ||= 300_000;
      return true;
    };
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + late);
    try {
      const { calls, letGo } = t.hold('yak');
      letGo();
      await t.settled(base, (await t.text(base, 'yak', 'All about yaks. '.repeat(60))).id);
      await t.fill();
      // The whole, and again, and its beginnings.
      expect([calls(), (await t.receipts(base)).length, await embedded(base)]).toEqual([4, 1, [true]]);
    } finally {
      clock.mockRestore();
    }
  });

  it('are waited for where their provider takes nothing at all', async () => {
    t.refuses = () => true;
    const base = await withTexts('zebra');
    await t.fill();
    expect([await embedded(base), await t.vectors(base)]).toEqual([[false], {}]);
    t.refuses = () => false;
    await t.fill();
    expect(await embedded(base)).toEqual([true]);
  });

  it('of another model stand beside those of the first until all have come, and then alone', async () => {
    const base = await withTexts('zebra', 'lion');
    await t.fill();
    expect(await t.vectors(base)).toEqual({ [`${FIRST}/mock-embedding`]: 2 });
    await t.delay(base, 'lion');
    await t.name(SECOND);
    await t.embed();
    expect(await t.vectors(base)).toEqual({ [`${FIRST}/mock-embedding`]: 2, [`${SECOND}/mock-embedding`]: 1 });
    expect((await search(base, 'zebra')).mode).toBe('hybrid');
    expect((await t.receipts(base)).at(-1)!.model_key).toBe(FIRST);
    await t.fill();
    expect(await t.vectors(base)).toEqual({ [`${SECOND}/mock-embedding`]: 2 });
    expect((await search(base, 'zebra')).mode).toBe('hybrid');
    expect((await t.receipts(base)).at(-1)!.model_key).toBe(SECOND);
  });

  it('are compared with those of their own space alone, where bases of the organization stand in several', async () => {
    const base = await t.base();
    for (const [title, text] of [['zebra', 'All about.'], ['lion', 'All about that.']]) await t.settled(base, (await t.text(base, title, text)).id); // prettier-ignore
    await t.fill();
    for (const title of ['zebra', 'lion']) await t.delay(base, title);
    await t.name(SECOND);
    const other = await t.base(base.org, 'Other');
    await t.settled(other, (await t.text(other, 'tiger', 'All about tigers, what they eat, where they live and how they hunt.')).id);
    await t.embed();
    expect([await t.vectors(base), await t.vectors(other)]).toEqual([
      { [`${FIRST}/mock-embedding`]: 2 },
      { [`${SECOND}/mock-embedding`]: 1 },
    ]);
    // It has none of the words that are looked for, but those that all texts have.
    const { body } = await t.call('POST', `${base.org.path}/knowledge/search`, { as: base.org.member, body: { query: 'all about' } });
    const titles = (body.results as { title: string }[]).map(({ title }) => title);
    expect([body.mode, titles.length, titles.slice(0, 2)]).toEqual(['hybrid', 3, expect.arrayContaining(['tiger'])]);
  });

  it('stay until all have come of what the model is replaced by, which has its place in the catalog alone', async () => {
    const base = await withTexts('zebra', 'lion');
    await t.fill();
    await t.delay(base, 'zebra');
    await t.delay(base, 'lion');
    await t.enable(FIRST, false);
    try {
      const { id } = await t.text(base, 'tiger', 'All about tigers.');
      await t.settled(base, id);
      await t.embed();
      expect(await t.vectors(base)).toEqual({ [`${FIRST}/mock-embedding`]: 2, [`${SECOND}/mock-embedding`]: 1 });
      await t.fill();
      expect([await t.vectors(base), (await search(base, 'zebra')).mode]).toEqual([{ [`${SECOND}/mock-embedding`]: 3 }, 'hybrid']);
    } finally {
      await t.enable(FIRST, true);
    }
  });

  it('are those of the new model alone when the last source without them is deleted', async () => {
    const base = await withTexts('zebra', 'lion');
    await t.fill();
    await t.delay(base, 'lion');
    await t.name(SECOND);
    await t.embed();
    const lion = (await t.asMember(base, 'GET', '/sources')).body.find(({ title }: { title: string }) => title === 'lion');
    expect((await t.asOwner(base, 'DELETE', `/sources/${lion.id}`)).status).toBe(204);
    // Has the base go over, and then deletes what is left.
    for (let i = 0; i < 2; i++) await t.get(Embedding).tidy();
    expect([await t.vectors(base), (await search(base, 'zebra')).mode]).toEqual([{ [`${SECOND}/mock-embedding`]: 1 }, 'hybrid']);
    for (const { id } of (await t.asMember(base, 'GET', '/sources')).body) await t.asOwner(base, 'DELETE', `/sources/${id}`);
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: [] });
  });

  it('take part from the first source on that has them', async () => {
    const base = await withTexts('zebra', 'lion');
    await t.delay(base, 'lion');
    await t.embed();
    expect(await embedded(base)).toEqual([false, true]);
    expect([(await search(base, 'zebra')).mode, (await search(base, 'lion')).titles[0]]).toEqual(['hybrid', 'lion']);
  });

  it('come to an organization while those of another are waited for', async () => {
    const gate = t.hold('sloth');
    const slow = await withTexts(...Array.from({ length: 9 }, (_, n) => `sloth ${n}`));
    const base = await withTexts('zebra');
    const pass = t.get(Embedding).embedNext();
    await eventually(
      () => embedded(base),
      ([is]) => is,
    );
    expect(await embedded(slow)).toEqual(Array.from({ length: 9 }, () => false));
    gate.letGo();
    await pass;
    await t.fill();
    expect(await embedded(slow)).toEqual(Array.from({ length: 9 }, () => true));
  });

  it.each(['others by then', 'deleted with their base'])('are neither made nor paid for of pieces that are %s', async (which) => {
    const base = await t.base();
    const gate = t.hold('panda');
    const text = (about: string) =>
      Array.from({ length: 70 }, (_, n) => `# ${about} ${n}\n\n${`The ${about} eats. `.repeat(60)}`).join('\n\n');
    const id = (await t.asMember(base, 'POST', '/documents', { title: 'Animals', content: text('panda') })).body.source_id as string;
    expect((await t.settled(base, id)).chunk_count).toBeGreaterThan(64);
    const pass = t.get(Embedding).embedNext();
    await eventually(
      () => Promise.resolve(gate.calls()),
      (n) => n > 0,
    );
    // Whoever is at it goes on, and nobody else begins.
    await t.name(null);
    if (which === 'others by then') {
      await t.asOwner(base, 'PUT', `/documents/${id}`, { content: text('koala') });
      await t.settled(base, id);
    } else await t.asOwner(base, 'DELETE', '');
    gate.letGo();
    await pass;
    await eventually(
      () => t.receipts(base),
      (receipts) => receipts.length > 0,
    );
    expect([(await t.receipts(base)).length, await t.vectors(base)]).toEqual([1, {}]);
  });
});

describe('the order of what is found', () => {
  const ONE = [{ model_key: RANKING, priced: true }];
  const TEXTS = { zebra: 'A zebra, and whatever else there is to be said of such animals.', other: 'Zebra!' };
  const withBoth = async () => {
    const base = await t.base();
    for (const [title, content] of Object.entries(TEXTS)) await t.settled(base, (await t.text(base, title, content)).id);
    return base;
  };
  const scores = async (base: TestBase) =>
    (await t.asMember(base, 'POST', '/search', { query: 'zebra' })).body.results.map(({ score }: { score: number }) => score) as number[];

  it('is that of the model which is named for it, where it is by words alone, and by meaning', async () => {
    const letTask = t.holdTask();
    const base = await withBoth();
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra', 'other'] });
    await t.name(FIRST, RANKING);
    expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['other', 'zebra'] });
    letTask();
    await t.fill();
    expect(await search(base, 'zebra')).toEqual({ mode: 'hybrid', titles: ['other', 'zebra'] });
    // There is no order of one.
    expect((await search(base, 'animals')).titles).toEqual(['zebra']);
    expect(await t.receipts(base, 'rerank')).toEqual([...ONE, ...ONE]);
    const [first, second] = await scores(base);
    expect(first > second && second > 0).toBe(true);
  });

  it('stays where the model is away, refuses, or may not be paid', async () => {
    const base = await withBoth();
    await t.name(null, RANKING);
    t.refuses = () => true;
    expect((await search(base, 'zebra')).titles).toEqual(['zebra', 'other']);
    t.refuses = () => false;
    await t.reachable(false);
    expect((await search(base, 'zebra')).titles).toEqual(['zebra', 'other']);
    await t.reachable(true);
    await withRateCard(t);
    await withCredits(t, base.org.id, { granted: '0' });
    expect((await search(base, 'zebra')).titles).toEqual(['zebra', 'other']);
    expect(await t.receipts(base, 'rerank')).toEqual([]);
    await addCredits(t, base.org.id, '1000');
    expect((await search(base, 'zebra')).titles).toEqual(['other', 'zebra']);
    expect(await t.receipts(base, 'rerank')).toEqual(ONE);
  });

  it('is not asked for of a model that has just not answered several in time, nor is what a query means', async () => {
    await t.name(FIRST, RANKING);
    const [base, one, other] = [await withBoth(), await withTexts('zebra'), await withTexts('lion', 'lion cub')];
    await t.embed();
    Object.assign(t.get(SearchCalls), { restMs: 60_000 });
    const { calls, letGo } = t.hold('zebra');
    const late = (of: TestBase, times: number) => Promise.all(Array.from({ length: times }, () => search(of, 'zebra')));
    const modes = async (searches: Promise<{ mode: string }[]>) => (await searches).map(({ mode }) => mode);
    try {
      expect([await modes(late(one, 2)), calls()]).toEqual([['text', 'text'], 2]);
      // An answer to anybody ends the row.
      expect((await search(other, 'lion')).mode).toBe('hybrid');
      expect([await modes(late(base, 3)), calls()]).toEqual([['text', 'text', 'text'], 8]);
      expect(await search(base, 'zebra')).toEqual({ mode: 'text', titles: ['zebra', 'other'] });
      expect(calls()).toBe(8);
      // What is put in order is of an organization alone.
      expect([(await search(other, 'lion')).mode, (await t.receipts(other, 'rerank')).length]).toEqual(['text', 2]);
    } finally {
      letGo();
      Object.assign(t.get(SearchCalls), { restMs: 0, late: new Map() });
    }
    expect(await search(base, 'zebra')).toEqual({ mode: 'hybrid', titles: ['other', 'zebra'] });
  });
});
