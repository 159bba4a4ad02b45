import { KnowledgeSource } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { anApiToken } from '@aps/identity/testing';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { knowledgeService, type TestBase } from '../testing';
import { SearchQueries } from './search.queries';
import { KnowledgeSearch } from './search.service';
import { Late, Searching } from './searching';

const t = knowledgeService();
const search = (base: TestBase, body: object) => t.asMember(base, 'POST', '/search', body);
const searchAll = ({ org }: TestBase, body: object) => t.call('POST', `${org.path}/knowledge/search`, { as: org.member, body });
const titles = ({ body }: { body: { results: { title: string }[] } }) => body.results.map(({ title }) => title);

/** Texts that are indexed, by title. */
async function withTexts(texts: Record<string, string>, base?: TestBase): Promise<TestBase> {
  const of = base ?? (await t.base());
  const ids = await Promise.all(Object.entries(texts).map(async ([title, content]) => (await t.text(of, title, content)).id as string));
  for (const id of ids) await t.settled(of, id);
  return of;
}

/** A source with 3,000 pieces of two words. */
async function withMany({ id: kb_id, org }: TestBase): Promise<void> {
  const ready = { status: 'ready' as const, finished_at: new Date(), chunk_count: 3_000 };
  const source_id = await t.insert(KnowledgeSource, { org_id: org.id, kb_id, kind: 'text', title: 'Many', ...ready });
  await t.db.execute(
    sql(`INSERT INTO knowledge_chunks (id, org_id, kb_id, source_id, position, content, heading_path, char_start, char_end, token_count, words)
      SELECT gen_random_uuid(), $1::uuid, $2::uuid, $3::uuid, n, 'alfa bravo', '{}', 0, 10, 500, to_tsvector('english', 'alfa bravo') || array_to_tsvector(ARRAY['org:' || $1::uuid, 'kb:' || $2::uuid])
      FROM generate_series(0, 2999) n`),
    [org.id, kb_id, source_id],
  );
}

describe('a search by words', () => {
  it('finds pieces with any of them, those with rarer ones first', async () => {
    const base = await withTexts({
      Travel: 'The company pays for trains. The company pays for hotels. The company pays for taxis.',
      Leave: 'The company grants thirty days of leave each year.',
      Parents: '# Parental leave\n\nThe company grants parental leave of three years.',
      Sabbatical: 'The company knows sabbaticals.',
    });
    const { status, body } = await search(base, { query: '  How long is parental leave in the company? ', limit: 3 });
    expect([status, body]).toMatchObject([
      200,
      { query: 'How long is parental leave in the company?', mode: 'text', took_ms: expect.any(Number) },
    ]);
    expect(titles({ body }).slice(0, 2)).toEqual(['Parents', 'Leave']);
    expect(body.results).toHaveLength(3);
    expect(body.results[0]).toEqual({
      ...{
        chunk_id: expect.any(String),
        kb_id: base.id,
        source_id: expect.any(String),
        title: 'Parents',
        heading_path: ['Parental leave'],
      },
      ...{ content: expect.stringContaining('three years'), score: expect.any(Number), position: 0, url: null },
    });
    const scores = body.results.map(({ score }: { score: number }) => score);
    expect(scores.every((score: number, i: number) => score > 0 && (i === 0 || score <= scores[i - 1]))).toBe(true);
    expect(titles(await search(base, { query: 'sabbatical' }))).toEqual(['Sabbatical']);
  });

  it('looks for the rarest words alone of a whole paragraph', async () => {
    const words = 'alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec'.split(' ');
    const base = await withTexts({ One: words.join(' '), Two: words.join(' '), Common: words[16] });
    const found = async (from: number) => titles(await search(base, { query: words.slice(from).join(' ') })).sort();
    expect([await found(0), await found(1)]).toEqual([
      ['One', 'Two'],
      ['Common', 'One', 'Two'],
    ]);
    expect(
      titles(await search(base, { query: `${'unheard '.repeat(3)}${words.map((word) => `${word}x`).join(' ')} quebec` })),
    ).toHaveLength(3);
  });

  it('looks for the rarest words alone of whatever is asked of very many pieces', async () => {
    const base = await withTexts({ Rare: 'zulu', Only: 'alfa' });
    await withMany(base);
    expect(
      titles(await search(base, { query: 'alfa bravo zulu', limit: 100 }))
        .slice(0, 2)
        .sort(),
    ).toEqual(['Only', 'Rare']);
    // As if there were far more.
    await t.db.execute(
      sql(`INSERT INTO knowledge_tallies (org_id, kb_id, state, sources, chunks, folded) VALUES ($1, $2, 'READY', 0, 60000, true)`),
      [base.org.id, base.id],
    );
    const found = titles(await search(base, { query: 'alfa bravo zulu', limit: 100 }));
    expect([found[0], found.length, found.includes('Only')]).toEqual(['Rare', 100, false]);
    expect(titles(await search(base, { query: 'alfa' }))[0]).toBe('Only');
  });

  it('looks at nothing of bases that are deleted', async () => {
    const base = await withTexts({ One: 'alfa' });
    const other = await t.base(base.org, 'Other');
    await withMany(other);
    // By which it is known that not all of the organization is looked through.
    await t.db.execute(sql('VACUUM (ANALYZE) knowledge_chunks'));
    const looked = sql<{ n: number }>(
      `SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables WHERE relname = 'knowledge_chunks'`,
    );
    const looksAt = (kbIds: string[] | null) =>
      t.db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql('SET LOCAL enable_seqscan = off'));
        const [before] = await tx.query(looked);
        await t.get(SearchQueries).byWords(tx, { orgId: base.org.id }, kbIds, 'alfa', 10);
        return (await tx.query(looked))[0].n - before.n;
      });
    expect(await looksAt(null)).toBeGreaterThan(3_000);
    await t.asOwner(other, 'DELETE', '');
    for (const kbIds of [null, [base.id, other.id]]) expect(await looksAt(kbIds)).toBeLessThan(10);
  });

  it('keeps nobody else from theirs where it takes long, and is refused then', async () => {
    const base = await withTexts({ One: 'A zebra.' });
    const [other, third] = [await withTexts({ Two: 'A zebra.' }), await t.base()];
    const searching = (work: (tx: Tx) => Promise<unknown>, { org } = base) => t.get(Searching).at('words', { orgId: org.id }, work);
    let letGo: (said: string) => void = () => undefined;
    const gate = new Promise<string>((resolve) => (letGo = resolve));
    const held = Array.from({ length: 20 }, () => searching(() => gate));
    expect(titles(await search(other, { query: 'zebra' }))).toEqual(['Two']);
    const full = [1, 2].map(() => searching(() => gate, other));
    const refused = (of: TestBase) =>
      t.get(KnowledgeSearch).search(OrgScope.system(of.org.id, 'a spec'), null, 'zebra', 1).catch((error: unknown) => error); // prettier-ignore
    const [{ status, body }, its, anothers] = await Promise.all([search(base, { query: 'zebra' }), refused(base), refused(third)]);
    letGo('done');
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    expect([its, anothers]).toMatchObject([{ ofOne: true }, { ofOne: false }]);
    expect(await Promise.all([...held, ...full])).toEqual([...held, ...full].map((_, i) => (i < 2 || i >= 20 ? 'done' : new Late(true))));
    expect(await searching((tx) => tx.query(sql('SELECT pg_sleep(60)')))).toEqual(new Late(true));
    expect(titles(await search(base, { query: 'zebra' }))).toEqual(['One']);
  });

  it('takes whatever is asked, and answers nothing where nothing is found', async () => {
    const base = await withTexts({ Odd: `It's 100% a \\ "test" & (more) | of: it* <-> !` });
    for (const query of ['nothing', 'the of and', `'`, `\\`, `it's & | ! :* <-> (`, '💥', `x'); DROP TABLE knowledge_chunks; --`])
      expect([query, (await search(base, { query })).status]).toEqual([query, 200]);
    expect((await search(base, { query: 'the of and' })).body.results).toEqual([]);
    expect(titles(await search(base, { query: `test "more"` }))).toEqual(['Odd']);
    for (const bad of [{ query: ' ' }, { query: 'x'.repeat(2_001) }, { query: 'x', limit: 0 }, { query: 'x', limit: 101 }])
      expect((await search(base, bad)).status).toBe(422);
  });

  it('finds a changed title at once, and what a text says when it is indexed', async () => {
    const base = await t.base();
    const id = (await t.asMember(base, 'POST', '/documents', { title: 'Rules', content: 'Be kind.' })).body.source_id as string;
    await t.settled(base, id);
    await t.asOwner(base, 'PUT', `/documents/${id}`, { title: 'Etiquette' });
    expect(titles(await search(base, { query: 'etiquette' }))).toEqual(['Etiquette']);
    expect(titles(await search(base, { query: 'rules' }))).toEqual([]);
  });

  it('looks in live bases of the organization alone, in all of them or in one', async () => {
    const base = await withTexts({ One: 'A zebra.' });
    const other = await withTexts({ Two: 'A zebra, too.' }, await t.base(base.org, 'Other'));
    const foreign = await withTexts({ Foreign: 'A zebra elsewhere.' });
    expect(titles(await searchAll(base, { query: 'zebra' })).sort()).toEqual(['One', 'Two']);
    expect(titles(await search(other, { query: 'zebra' }))).toEqual(['Two']);
    expect(
      (await t.call('POST', `${base.org.path}/knowledge/${foreign.id}/search`, { as: base.org.member, body: { query: 'zebra' } })).status,
    ).toBe(404);
    await t.asOwner(other, 'DELETE', '');
    expect(titles(await searchAll(base, { query: 'zebra' }))).toEqual(['One']);
    expect((await search(other, { query: 'zebra' })).status).toBe(404);
  });

  it('takes no more than the right to read, though it is a POST, and no key', async () => {
    const base = await withTexts({ One: 'A zebra.' });
    const reader = await anApiToken(t, base.org.member, { scope: 'knowledge:read' });
    const ask = (path: string, query: string) =>
      t.call('POST', base.org.path + path, { as: reader, body: { query }, headers: { 'Idempotency-Key': 'k' } });
    for (const path of ['/knowledge/search', `/knowledge/${base.id}/search`])
      for (const query of ['zebra', 'lion']) expect((await ask(path, query)).status).toBe(200);
    const written = await t.call('POST', `${base.path}/documents`, { as: reader, body: {} });
    expect([written.status, written.body.code]).toEqual([403, 'insufficient_scope']);
  });
});
