import { randomUUID } from 'node:crypto';
import { KnowledgeSource } from '@aps/entities';
import { FilesService } from '@aps/files';
import { pdf, pptx, shape } from '@aps/files/testing';
import { aTeam } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { ObjectStorage } from '@aps/platform/storage';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { DeletedBases } from '../deleted-bases';
import { knowledgeService, type TestBase } from '../testing';

const t = knowledgeService();
const A_TIME = expect.stringMatching(/^\d{4}-.*Z$/);

describe('knowledge bases', () => {
  it('are made, shown, edited and deleted', async () => {
    const org = await aTeam(t);
    const asOwner = (method: string, path: string, body?: unknown) =>
      t.call(method, `${org.path}/knowledge${path}`, { as: org.owner, body });
    const { status, body } = await asOwner('POST', '', { name: '  Our Handbook ', description: 'How we work.' });
    const base = {
      ...{ id: expect.any(String), slug: 'our-handbook', name: 'Our Handbook', description: 'How we work.', project_id: null },
      ...{
        source_count: 0,
        chunk_count: 0,
        pending_count: 0,
        failed_count: 0,
        created_by: org.owner.id,
        created_at: A_TIME,
        updated_at: A_TIME,
      },
    };
    expect([status, body]).toEqual([201, base]);
    const described = (await asOwner('PATCH', `/${body.id}`, { name: 'Our Handbook', description: null })).body;
    expect(described).toEqual({ ...base, description: null });
    expect((await asOwner('PATCH', `/${body.id}`, { description: null })).body).toEqual(described);
    expect((await asOwner('PATCH', `/${body.id}`, { name: 'Rules' })).body.name).toBe('Rules');
    expect((await t.audit({ target_id: body.id })).map(({ metadata }) => metadata)).toEqual([
      { slug: 'our-handbook' },
      { fields: ['description'] },
      { fields: ['name'] },
    ]);
    expect((await asOwner('POST', '', { name: 'Our Handbook' })).body.slug).toBe('our-handbook-2');
    expect((await asOwner('POST', '', { name: 'X', slug: 'our-handbook' })).body.code).toBe('slug_taken');
    for (const bad of [{ name: '   ' }, { name: 'x'.repeat(201) }, { name: 'x', description: 'x'.repeat(2_001) }])
      expect((await asOwner('POST', '', bad)).status).toBe(422);
    expect((await t.call('POST', `${org.path}/knowledge`, { as: org.member, body: { name: 'X' } })).body.code).toBe('insufficient_role');
    expect((await asOwner('DELETE', `/${body.id}`)).status).toBe(204);
    expect((await asOwner('DELETE', `/${body.id}`)).status).toBe(404);
    expect((await asOwner('POST', '', { name: 'Other', slug: 'our-handbook' })).status).toBe(201);
    const { items, total } = (await t.call('GET', `${org.path}/knowledge?project_id=none`, { as: org.member })).body;
    expect([items.map(({ slug }: { slug: string }) => slug), total]).toEqual([['our-handbook', 'our-handbook-2'], 2]);
  });

  it('take all that is in them along when they are deleted', async () => {
    const base = await t.base();
    const { id } = await t.text(base, 'Holidays', 'Thirty days.');
    const file = await t.upload(base, 'Some days.', 'days.txt');
    await t.asMember(base, 'POST', '/sources/file', { file_refs: [{ file_id: file }] });
    const page = (await t.asMember(base, 'POST', '/documents', {})).body.source_id as string;
    expect((await t.call('GET', `${base.org.path}/files/${file}`, { as: base.org.owner })).status).toBe(200);
    expect((await t.asOwner(base, 'DELETE', '')).status).toBe(204);
    const below: [string, string, unknown?][] = [
      ['GET', '/sources'],
      ['GET', '/documents'],
      ['GET', `/documents/${page}`],
      ['PUT', `/documents/${page}`, { title: 'x' }],
      ['POST', `/documents/${page}/move`, { position: 1 }],
      ['POST', '/documents', {}],
      ['POST', '/sources/text', { title: 'x', content: 'x' }],
      ['POST', '/sources/file', { file_refs: [{ file_id: file }] }],
      ['GET', `/sources/${id}/chunks`],
      ['POST', `/sources/${id}/resync`],
      ['DELETE', `/sources/${id}`],
    ];
    for (const [method, path, body] of below) expect([path, (await t.asOwner(base, method, path, body)).status]).toEqual([path, 404]);
    expect((await t.call('GET', `${base.org.path}/files/${file}`, { as: base.org.owner })).status).toBe(404);
  });

  it('are erased, with all that was in them, when they are long deleted', async () => {
    const base = await t.base();
    const other = await t.base(base.org, 'Other');
    const file = await t.upload(base, 'Some days.', 'days.txt');
    const [{ storage_key }] = await t.db.query(sql<{ storage_key: string }>('SELECT storage_key FROM files WHERE id = $1'), [file]);
    await t.asMember(base, 'POST', '/sources/file', { file_refs: [{ file_id: file }] });
    await t.settled(other, (await t.text(other, 'Holidays', 'Thirty days.')).id);
    await t.settled(base, (await t.text(base, 'Holidays', 'Thirty days.')).id);
    // More than are erased at once, and the newest has the others below.
    const page = uuidv7();
    const of = { org_id: base.org.id, kb_id: base.id, kind: 'document' as const, title: 'Page', position: 1, version: 1 };
    const read = { ...of, status: 'ready' as const, finished_at: new Date() };
    await t.insert(KnowledgeSource, { ...read, id: page });
    for (let n = 0; n < 200; n++) await t.insert(KnowledgeSource, { ...read, parent_id: page, created_at: new Date(0) });
    // One by itself has more pieces than are erased at once.
    await t.db.execute(
      sql(`INSERT INTO knowledge_chunks (id, org_id, kb_id, source_id, position, content, heading_path, char_start, char_end, token_count, words)
        SELECT gen_random_uuid(), $1, $2, $3, n, 'x', '{}', 0, 1, 1, '' FROM generate_series(1, 6000) n`),
      [base.org.id, base.id, page],
    );
    expect((await t.asOwner(base, 'DELETE', '')).status).toBe(204);
    const ago = async (days: number) => {
      await t.db.execute(sql('UPDATE knowledge_bases SET deleted_at = now() - make_interval(days => $2) WHERE id = $1'), [base.id, days]);
      let parts = 0;
      while (await t.get(DeletedBases).erase()) parts++;
      await t.get(FilesService).removeExpired(10);
      return parts;
    };
    const rows = `(SELECT count(*) FROM knowledge_bases WHERE id = $1) + (SELECT count(*) FROM knowledge_sources WHERE kb_id = $1) + (SELECT count(*) FROM knowledge_chunks WHERE kb_id = $1)`;
    const left = async ({ id }: TestBase) => (await t.db.query(sql<{ n: number }>(`SELECT (${rows})::int AS n`), [id]))[0].n;
    const bytes = () => t.get(ObjectStorage).exists(storage_key);
    expect([await ago(29), (await left(base)) > 200, await bytes()]).toEqual([0, true, true]);
    expect([await ago(31), await left(base), await bytes(), await left(other)]).toEqual([3, 0, false, 3]);
    // One that cannot be erased keeps no other from it.
    const next = await t.base(base.org, 'Next');
    const ids = [other.id, next.id];
    await t.db.execute(
      sql(`UPDATE knowledge_bases SET deleted_at = now() - make_interval(days => 30 + array_position($1::uuid[], id)) WHERE id = ANY ($1)`),
      [ids.reverse()],
    );
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT FROM knowledge_sources WHERE kb_id = $1 FOR UPDATE'), [other.id]);
      await expect(t.get(DeletedBases).erase()).rejects.toThrow();
      expect([await t.get(DeletedBases).erase(), await left(next), await left(other)]).toEqual([1, 0, 3]);
      expect(await t.get(DeletedBases).erase()).toBe(0);
    });
    expect([await t.get(DeletedBases).erase(), await left(other)]).toEqual([1, 0]);
  });
});

describe('sources', () => {
  it('of texts are indexed, listed and deleted, and the base says so', async () => {
    const base = await t.base();
    const added = await t.asMember(base, 'POST', '/sources/text', { title: ' Holidays ', content: '# Days\n\nThirty days.' });
    const source = {
      ...{
        id: expect.any(String),
        kb_id: base.id,
        kind: 'text',
        title: 'Holidays',
        status: 'PENDING',
        error: null,
        chunk_count: 0,
        size_bytes: 20,
      },
      ...{ media_type: 'text/markdown', url: null, sync_config_id: null, remote_id: null, attempts: 0, indexed_at: null, embedded: false },
      ...{ created_by: base.org.member.id, created_at: A_TIME, updated_at: A_TIME },
    };
    expect([added.status, added.body]).toEqual([201, source]);
    const { id } = added.body;
    expect(await t.settled(base, id)).toEqual({ ...source, status: 'READY', chunk_count: 1, attempts: 1, indexed_at: A_TIME });
    const { body } = await t.asMember(base, 'GET', `/sources/${id}/chunks?limit=1`);
    expect(body).toMatchObject({ total: 1, next_offset: null, items: [{ source_id: id, position: 0, char_start: 0, page: null }] });
    expect((await t.asMember(base, 'GET', '')).body).toMatchObject({ source_count: 1, chunk_count: 1, pending_count: 0, failed_count: 0 });
    expect(await t.told(base, id)).toEqual(['PENDING', 'PROCESSING', 'READY']);
    expect((await t.asMember(base, 'DELETE', `/sources/${id}`)).status).toBe(204);
    expect((await t.asMember(base, 'GET', `/sources/${id}/chunks`)).status).toBe(404);
    expect((await t.asMember(base, 'GET', '')).body).toMatchObject({ source_count: 0, chunk_count: 0 });
  });

  it('say what is wrong with a text', async () => {
    const base = await t.base();
    const add = async (body: unknown) => {
      const answer = await t.asMember(base, 'POST', '/sources/text', body);
      return [answer.status, ...(answer.body.detail as { loc: string[]; type: string }[]).map(({ loc, type }) => `${loc.at(-1)} ${type}`)];
    };
    expect(await add({ title: ' ', content: ' \n ' })).toEqual([422, 'content value_error', 'title string_too_short']);
    expect(await add({ title: 'x'.repeat(501), content: 'ä'.repeat(1024 * 1024 + 1) })).toEqual([
      422,
      'content string_too_long',
      'title string_too_long',
    ]);
    // As JSON may write it, the largest is larger than the body of any other operation.
    const body = `{"title":"x","content":"${'\\u0061'.repeat(2 * 1024 * 1024)}"}`;
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${base.org.member.token}` };
    expect((await fetch(`${t.url}${base.path}/sources/text`, { method: 'POST', headers, body })).status).toBe(201);
  });

  it('of files are made all together or not at all, in their order', async () => {
    const base = await t.base();
    const [first, second] = [await t.upload(base, 'First.', 'a.txt'), await t.upload(base, '# Second', 'b.md')];
    const foreign = await t.upload(await t.base(), 'Foreign.', 'c.txt');
    const add = (...refs: unknown[]) => t.asMember(base, 'POST', '/sources/file', { file_refs: refs });
    for (const bad of [foreign, randomUUID(), first]) {
      const { status, body } = await add({ file_id: first }, { file_id: bad });
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'unknown_reference', ['body', 'file_refs', 1, 'file_id']]);
    }
    for (const n of [0, 21]) expect((await add(...Array.from({ length: n }, () => ({ file_id: randomUUID() })))).status).toBe(422);
    expect((await t.asMember(base, 'GET', '/sources')).body).toEqual([]);
    const { status, body } = await add({ file_id: second, filename: 'Two' }, { file_id: first });
    expect([status, body.map(({ title, kind }: { title: string; kind: string }) => [title, kind])]).toEqual([201, [['Two', 'file'], ['a.txt', 'file']]]); // prettier-ignore
    expect(await t.settled(base, body[1].id)).toMatchObject({ status: 'READY', media_type: 'text/plain', size_bytes: 6 });
    // It is kept as long as its source, and open to whoever sees that.
    const open = async () => (await t.call('GET', `${base.org.path}/files/${first}`, { as: base.org.owner })).status;
    expect(await open()).toBe(200);
    await t.asMember(base, 'DELETE', `/sources/${body[1].id}`);
    expect(await open()).toBe(404);
  });

  it('of files are divided under their headings, where they have such, and page by page', async () => {
    const base = await t.base();
    const files: [string | Buffer, string][] = [
      [pdf([null, ['# Second']]), 'a.pdf'],
      [pptx(['Manners', 'Rules'].map((title) => ({ shapes: shape('title', title) + shape('body', 'Be kind. '.repeat(200)) }))), 'b.pptx'],
      ['# no heading', 'c.txt'],
      ['# Rules\n\nBe kind.', 'd.md'],
    ];
    const refs = await Promise.all(files.map(async ([content, name]) => ({ file_id: await t.upload(base, new Uint8Array(Buffer.from(content as string)), name) }))); // prettier-ignore
    const { body } = await t.asMember(base, 'POST', '/sources/file', { file_refs: refs });
    const last = async ({ id }: { id: string }) => {
      await t.settled(base, id);
      const { page, heading_path } = (await t.asMember(base, 'GET', `/sources/${id}/chunks`)).body.items.at(-1);
      return [page, heading_path];
    };
    expect(await Promise.all(body.map(last))).toEqual([
      [1, []],
      [2, ['Rules']],
      [null, []],
      [null, ['Rules']],
    ]);
  });
});
