import { ExtractionError } from '@aps/files';
import { NO_CALLER } from '@aps/platform/database';
import { metrics } from '@aps/platform/observability';
import { Runs } from '@aps/platform/runs';
import { eventually, sql } from '@aps/platform/testing';
import { knowledgeService, type TestBase } from '../testing';
import { SourceKind } from './source.kind';
import { SourceReader } from './source-reader';

const t = knowledgeService();
afterEach(() => jest.restoreAllMocks());

/** Holds what reads sources until it is let go. @returns how often it was begun */
function held(): { letGo: () => void; begun: () => number; reads: () => Promise<unknown> } {
  const reader = t.get(SourceReader);
  const chunk = reader.chunk.bind(reader);
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  const spy = jest.spyOn(reader, 'chunk').mockImplementation(async (...args) => {
    await gate;
    return chunk(...args);
  });
  const begun = () => spy.mock.calls.length;
  return { letGo, begun, reads: () => eventually(() => Promise.resolve(begun()), (n) => n > 0) }; // prettier-ignore
}

const failing = (error: Error) => jest.spyOn(t.get(SourceReader), 'chunk').mockRejectedValue(error);
const resync = async (base: TestBase, id: string) => (await t.asMember(base, 'POST', `/sources/${id}/resync`)).body;
const aText = async (content = 'Old words.') => {
  const base = await t.base();
  const { id } = await t.text(base, 'Text', content);
  await t.settled(base, id);
  return { base, id: id as string };
};

describe('indexing', () => {
  it('keeps what was found before when a later run fails, until one does not', async () => {
    const { base, id } = await aText();
    const [ours, theirs] = [await ended('failed'), await ended('unsuccessful')];
    failing(new ExtractionError('extract_failed', 'It cannot be read'));
    expect(await resync(base, id)).toMatchObject({ status: 'PENDING', attempts: 0, error: null, chunk_count: 1 });
    const failed = await t.settled(base, id);
    expect(failed).toMatchObject({ status: 'FAILED', attempts: 1, chunk_count: 1 });
    expect(failed.error).toEqual({ code: 'extract_failed', stage: 'chunk', message: 'It cannot be read.' });
    expect((await t.asMember(base, 'GET', '')).body).toMatchObject({ failed_count: 1, chunk_count: 1 });
    expect(await t.chunks(base, id)).toEqual(['Old words.']);
    // Nobody is called for a file that is bad.
    await eventually(() => ended('unsuccessful'), (n) => n > theirs); // prettier-ignore
    expect(await ended('failed')).toBe(ours);
    jest.restoreAllMocks();
    await resync(base, id);
    expect(await t.settled(base, id)).toMatchObject({ status: 'READY', error: null, attempts: 1 });
  });

  it('tries a fault of ours three times', async () => {
    const { base, id } = await aText();
    const read = failing(new Error('broken'));
    await resync(base, id);
    expect(await t.settled(base, id)).toMatchObject({ status: 'FAILED', attempts: 3, error: { code: 'internal', stage: 'chunk' } });
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('is done once more after a run that was under way when it was asked for', async () => {
    const base = await t.base();
    const gate = held();
    const id = (await t.asMember(base, 'POST', '/documents', { title: 'Page', content: 'First.' })).body.source_id as string;
    await gate.reads();
    expect((await t.source(base, id)).status).toBe('PROCESSING');
    expect((await t.asOwner(base, 'PUT', `/documents/${id}`, { content: 'Second.' })).body.status).toBe('PENDING');
    for (let i = 0; i < 3; i++) expect(await resync(base, id)).toMatchObject({ status: 'PENDING', attempts: 0, error: null });
    gate.letGo();
    await t.settled(base, id);
    expect([gate.begun(), await t.chunks(base, id)]).toEqual([2, ['Second.']]);
    expect((await t.asMember(base, 'GET', '')).body).toMatchObject({ source_count: 1, chunk_count: 1, pending_count: 0 });
  });

  it('goes on for others while those of several organizations take long', async () => {
    const gate = held();
    const bases = await Promise.all(Array.from({ length: 4 }, () => t.base()));
    await Promise.all(bases.flatMap((base) => ['a', 'b', 'c', 'd'].map((title) => t.text(base, title, 'Words.'))));
    await eventually(() => Promise.resolve(gate.begun()), (n) => n === 16); // prettier-ignore
    await t.text(bases[0], 'e', 'Words.');
    await t.text(await t.base(), 'Text', 'Words.');
    await eventually(() => Promise.resolve(gate.begun()), (n) => n > 16); // prettier-ignore
    expect(gate.begun()).toBe(17);
    gate.letGo();
  });

  it('leaves a document the title that it was given meanwhile, by which it is found', async () => {
    const base = await t.base();
    const gate = held();
    const id = (await t.asMember(base, 'POST', '/documents', { title: 'Rules', content: 'Be kind.' })).body.source_id as string;
    await gate.reads();
    expect((await t.asOwner(base, 'PUT', `/documents/${id}`, { title: 'Etiquette' })).status).toBe(200);
    gate.letGo();
    expect(await t.settled(base, id)).toMatchObject({ status: 'READY', title: 'Etiquette' });
    const found = async (query: string) => (await t.asMember(base, 'POST', '/search', { query })).body.results.length;
    expect([await found('etiquette'), await found('rules')]).toEqual([1, 0]);
  });

  it('holds neither its base nor its source while pieces are written', async () => {
    const { base, id } = await aText();
    const gate = held();
    await resync(base, id);
    await gate.reads();
    const waits = sql(`SELECT FROM pg_locks WHERE NOT granted AND relation = 'knowledge_chunks'::regclass`);
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql('LOCK TABLE knowledge_chunks IN SHARE MODE'));
      gate.letGo();
      await eventually(
        () => t.db.query(waits),
        (rows) => rows.length > 0,
      );
      const answers = await Promise.all([
        t.asOwner(base, 'PATCH', '', { name: 'Other' }),
        t.asMember(base, 'POST', `/sources/${id}/resync`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    });
    expect(await t.settled(base, id)).toMatchObject({ status: 'READY', chunk_count: 1 });
    expect([gate.begun(), await t.chunks(base, id)]).toEqual([2, ['Old words.']]);
  });

  it.each(['the base', 'the source'])('leaves nothing where %s is deleted meanwhile', async (which) => {
    const base = await t.base();
    const gate = held();
    const { id } = await t.text(base, 'Text', 'Words.');
    await gate.reads();
    await t.asOwner(base, 'DELETE', which === 'the base' ? '' : `/sources/${id}`);
    const before = await ended('lost');
    gate.letGo();
    await eventually(
      () => ended('lost'),
      (n) => n > before,
    );
    const [{ n }] = await t.db.query(sql<{ n: number }>('SELECT count(*)::int AS n FROM knowledge_chunks WHERE kb_id = $1'), [base.id]);
    expect(n).toBe(0);
  });

  it('writes nothing by an owner whose lease another has', async () => {
    const { base, id } = await aText();
    const gate = held();
    await resync(base, id);
    await gate.reads();
    await t.db.execute(sql(`UPDATE knowledge_sources SET fence = fence + 1 WHERE id = $1`), [id]);
    const before = await ended('lost');
    gate.letGo();
    await eventually(
      () => ended('lost'),
      (n) => n > before,
    );
    expect((await t.source(base, id)).status).toBe('PROCESSING');
  });

  it('gives a source up whose workers were lost three times', async () => {
    const { base, id } = await aText();
    await t.db.execute(sql(`UPDATE knowledge_sources SET status = 'running', finished_at = NULL, deliveries = 3, lease_expires_at = now() - interval '1 minute' WHERE id = $1`), [id]); // prettier-ignore
    const kind = t.get(SourceKind);
    expect(await t.get(Runs).claim(kind, { org_id: base.org.id, source_id: id })).toBeNull();
    expect(await t.source(base, id)).toMatchObject({ status: 'FAILED', chunk_count: 1, error: { code: 'worker_lost', stage: 'extract' } });
    expect(await t.chunks(base, id)).toEqual(['Old words.']);
  });
});

/** How many runs have come to an end like this. */
async function ended(outcome: string): Promise<number> {
  const { values } = await metrics.getSingleMetric('run_duration_seconds')!.get();
  const isCount = ({ metricName, labels }: (typeof values)[number] & { metricName?: string }) =>
    metricName === 'run_duration_seconds_count' && labels.kind === 'knowledge_source' && labels.outcome === outcome;
  return values.find(isCount)?.value ?? 0;
}
