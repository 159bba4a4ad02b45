import { randomUUID } from 'node:crypto';
import { sql } from '@aps/platform/testing';
import { knowledgeService, type TestBase } from '../testing';

const t = knowledgeService();
const A_TIME = expect.stringMatching(/^\d{4}-.*Z$/);
const write = async (base: TestBase, body: object): Promise<string> => (await t.asMember(base, 'POST', '/documents', body)).body.source_id;
const move = (base: TestBase, id: string, body: object) => t.asMember(base, 'POST', `/documents/${id}/move`, body);
const titles = async (base: TestBase): Promise<string[]> =>
  (await t.asMember(base, 'GET', '/documents')).body.map((d: { title: string }) => d.title);

describe('documents', () => {
  it('begin empty, and are ready with nothing indexed', async () => {
    const base = await t.base();
    const { status, body } = await t.asMember(base, 'POST', '/documents', {});
    expect([status, body]).toEqual([
      201,
      {
        ...{ source_id: expect.any(String), kb_id: base.id, title: 'Untitled', content: '', parent_id: null, position: 1, version: 'v1' },
        ...{ status: 'READY', error: null, chunk_count: 0, created_by: base.org.member.id, updated_by: base.org.member.id },
        ...{ created_at: A_TIME, updated_at: A_TIME },
      },
    ]);
    expect(await t.source(base, body.source_id)).toMatchObject({ kind: 'document', status: 'READY', indexed_at: A_TIME });
  });

  it('are saved by administrators, by the version that was read', async () => {
    const base = await t.base();
    const id = await write(base, { title: 'Holidays', content: 'Thirty days.' });
    const save = (body: object) => t.asOwner(base, 'PUT', `/documents/${id}`, body);
    expect((await t.settled(base, id)).chunk_count).toBe(1);
    expect((await t.asMember(base, 'PUT', `/documents/${id}`, { title: 'x' })).body.code).toBe('insufficient_role');
    expect((await save({ title: 'Days off', base_version: 'v1' })).body).toMatchObject({
      version: 'v2',
      status: 'READY',
      updated_by: base.org.owner.id,
    });
    expect((await save({ title: 'Days off', content: 'Thirty days.', base_version: null })).body.version).toBe('v2');
    const stale = await save({ content: 'Lost.', base_version: 'v1' });
    expect([stale.status, stale.body.code, stale.body.context]).toEqual([409, 'version_conflict', { current_version: 'v2' }]);
    expect((await save({ content: 'Forty days.' })).body).toMatchObject({ version: 'v3', status: 'PENDING', content: 'Forty days.' });
    await t.settled(base, id);
    expect(await t.chunks(base, id)).toEqual(['Forty days.']);
    expect((await save({ content: ' ' })).body.version).toBe('v4');
    expect(await t.settled(base, id)).toMatchObject({ status: 'READY', chunk_count: 0 });
    // Of those who save at once on what they have read, one does.
    const answers = await Promise.all(Array.from({ length: 5 }, (_, n) => save({ content: `Of ${n}.`, base_version: 'v4' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  it('are no other sources', async () => {
    const base = await t.base();
    const { id } = await t.text(base, 'A text', 'x');
    for (const [method, path, body] of [
      ['GET', ''],
      ['PUT', '', { title: 'x' }],
      ['POST', '/move', { position: 1 }],
    ] as const)
      // prettier-ignore
      expect((await t.asOwner(base, method, `/documents/${id}${path}`, body)).status).toBe(404);
    expect((await t.asMember(base, 'POST', '/documents', { parent_id: id })).body.code).toBe('unknown_reference');
  });

  it('stand below each other in their order, and are moved with what is below them', async () => {
    const base = await t.base();
    const a = await write(base, { title: 'a' });
    const b = await write(base, { title: 'b' });
    await write(base, { title: 'c', position: -1 });
    const below = await write(base, { title: 'below a', parent_id: a });
    const { status, body } = await move(base, a, { position: 1.5, parent_id: b });
    expect([status, body]).toMatchObject([200, { source_id: a, parent_id: b, position: 1.5, version: 'v1', status: 'READY' }]);
    expect((await move(base, a, { position: 0 })).body.parent_id).toBe(b);
    for (const parent_id of [a, below]) {
      const refused = await move(base, a, { position: 1, parent_id });
      expect([refused.status, refused.body.code, refused.body.detail[0].loc]).toEqual([422, 'cycle', ['body', 'parent_id']]);
    }
    const foreign = await write(await t.base(), {});
    for (const parent_id of [randomUUID(), foreign])
      expect((await move(base, a, { position: 1, parent_id })).body.code).toBe('unknown_reference');
    expect((await move(base, a, { position: 9, parent_id: null })).body).toMatchObject({ parent_id: null, position: 9 });
    expect(await titles(base)).toEqual(['c', 'below a', 'b', 'a']);
  });

  it('leave those below them in their place when they are deleted', async () => {
    const base = await t.base();
    const [, b] = [await write(base, { title: 'a' }), await write(base, { title: 'b' }), await write(base, { title: 'c' })];
    for (const title of ['b1', 'b2', 'b3']) await write(base, { title, parent_id: b });
    expect((await t.asMember(base, 'DELETE', `/sources/${b}`)).status).toBe(204);
    expect(await titles(base)).toEqual(['a', 'b1', 'b2', 'b3', 'c']);
  });

  it('never make a circle, however their moves cross', async () => {
    const base = await t.base();
    const pages = await Promise.all(Array.from({ length: 6 }, (_, n) => write(base, { title: `${n}` })));
    for (let round = 0; round < 3; round++) {
      await Promise.all(pages.map((page, i) => move(base, page, { position: 1, parent_id: pages[(i + 1 + round) % pages.length] })));
      const [{ n }] = await t.db.query(
        sql<{ n: number }>(`
          WITH RECURSIVE down AS (
            SELECT id FROM knowledge_sources WHERE kb_id = $1 AND parent_id IS NULL
            UNION ALL SELECT s.id FROM down JOIN knowledge_sources s ON s.parent_id = down.id)
          SELECT count(*)::int AS n FROM down`),
        [base.id],
      );
      expect(n).toBe(pages.length);
      await Promise.all(pages.map((page) => move(base, page, { position: 1, parent_id: null })));
    }
  });
});
