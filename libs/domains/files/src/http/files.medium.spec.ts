import { NO_CALLER } from '@aps/platform/database';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { FileTargets } from '../file-targets';
import { FilesService } from '../files.service';
import { OrgScope } from '@aps/guards';
import { Maintenance } from '@aps/platform/maintenance';
import { ObjectStorage } from '@aps/platform/storage';
import { aMember, aTeam, type TestTeam } from '@aps/orgs/testing';
import { sql, type CallOptions } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { FILES } from '../testing/files';

const MiB = 1024 * 1024;
const NOBODYS = '0192aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
const t = testService(FILES);
let org: TestTeam;
/** Targets of the kind `shelf`: whoever is named may open it. */
const shelves = new Map<string, string[]>();

beforeAll(async () => {
  org = await aTeam(t);
  t.get(FileTargets).register('shelf', (_db, scope, ids) =>
    Promise.resolve(ids.flatMap((id) => (shelves.get(id)?.includes(scope.userId) ? [{ id }] : []))),
  );
});

const form = (name: string, content: Uint8Array | string, filename: string, type = 'application/x-lie'): FormData => {
  const data = new FormData();
  data.append(name, new Blob([content as Uint8Array<ArrayBuffer>], { type }), filename);
  return data;
};
/** One part of a form whose boundary is `b`. */
const part = (disposition: string, content = '', type?: string) =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n${content}\r\n`;
const post = (body: CallOptions['body'], { as = org.owner, headers }: CallOptions = {}) =>
  t.call('POST', `/api/orgs/${org.id}/uploads`, { as, body, headers });
const uploaded = async (content: Uint8Array | string = 'hello', filename = 'hello.txt'): Promise<string> => {
  const { status, body } = await post(form('file', content, filename));
  expect(status).toBe(201);
  return body.file_id as string;
};
const get = (
  id: string,
  {
    as = org.owner.token,
    method = 'GET',
    headers = {},
    orgId = org.id,
  }: { as?: string; method?: string; headers?: Record<string, string>; orgId?: string } = {},
) => fetch(`${t.url}/api/orgs/${orgId}/files/${id}`, { method, headers: { Authorization: `Bearer ${as}`, ...headers } });
const rows = () =>
  t.db.query(sql<{ id: string; filename: string; storage_key: string }>('SELECT id, filename, storage_key FROM files ORDER BY id'));
const storedFiles = () => {
  const dir = process.env.FILES_DIR!;
  return existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((e) => e.isFile())
        .map((e) => e.name)
        .sort()
    : [];
};
/** Every row has its bytes, and all bytes have their row. */
const expectConsistent = async () => expect(storedFiles()).toEqual((await rows()).map((r) => r.storage_key.split('/').at(-1)).sort());
const service = () => t.get(FilesService);
const storage = () => t.get(ObjectStorage);
const expire = (id: string) => t.db.execute(sql(`UPDATE files SET expires_at = now() - interval '1 second' WHERE id = $1`), [id]);

describe('POST uploads', () => {
  it('stores a file and says what it is', async () => {
    const content = randomBytes(3 * MiB);
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), content]);
    const { status, body } = await post(form('file', png, '../Größe.jpg', 'text/html'));
    expect(status).toBe(201);
    expect(body).toEqual({
      file_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      filename: 'Größe.jpg',
      media_type: 'image/png',
      size_bytes: png.length,
      sha256: createHash('sha256').update(png).digest('hex'),
      expires_at: expect.any(String),
    });
    expect(Math.abs(Date.parse(body.expires_at) - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    const answer = await get(body.file_id);
    expect(Buffer.from(await answer.arrayBuffer()).equals(png)).toBe(true);
  });

  it('is refused while too much is there to which nothing refers', async () => {
    const id = await uploaded();
    await t.db.execute(sql('UPDATE files SET size_bytes = $2 WHERE id = $1'), [id, 50 * MiB]);
    t.configure({ FILES_UNATTACHED_MAX_MB: '50' });
    const refused = await post(form('file', 'x', 'x.txt'));
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '600']);
    const other = await aTeam(t);
    expect((await t.call('POST', `${other.path}/uploads`, { as: other.owner, body: form('file', 'x', 'x.txt') })).status).toBe(201);
    await t.db.transaction(NO_CALLER, (tx) => service().link(tx, org.scope, { kind: 'shelf', id: 'a' }, [id]));
    expect((await post(form('file', 'x', 'x.txt'))).status).toBe(201);
    t.configure({ FILES_UNATTACHED_MAX_MB: undefined });
  });

  it('passes over other fields', async () => {
    const data = form('other', 'x', 'other.txt');
    data.append('note', 'y');
    data.append('file', new Blob(['mine']), 'mine.txt');
    expect((await post(data)).body).toMatchObject({ filename: 'mine.txt', size_bytes: 4 });
  });

  const problem = (loc: string[], type: string) => ({ code: 'validation_error', detail: [expect.objectContaining({ loc, type })] });
  const boundary = { 'Content-Type': 'multipart/form-data; boundary=b' };
  it.each<[string, RequestInit['body'], Record<string, string>, unknown]>([
    ['an empty file', form('file', '', 'x.txt'), {}, problem(['body', 'file'], 'too_short')],
    ['another field only', form('upload', 'x', 'x.txt'), {}, problem(['body', 'file'], 'missing')],
    ['an empty form', new FormData(), {}, problem(['body', 'file'], 'missing')],
    ['nothing', undefined, {}, problem(['body', 'file'], 'missing')],
    ['no boundary', 'x', { 'Content-Type': 'multipart/form-data' }, problem(['body'], 'value_error')],
    [
      'text in the field',
      '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\ntext\r\n--b--\r\n',
      boundary,
      problem(['body', 'file'], 'value_error'),
    ],
    [
      'a form that ends in the file',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\ntext',
      boundary,
      problem(['body'], 'value_error'),
    ],
    [
      'a form that ends after the file',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\ntext\r\n--b\r\n',
      boundary,
      problem(['body'], 'value_error'),
    ],
    ['what is no form', 'hello', boundary, problem(['body'], 'value_error')],
    [
      'two files',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="y"\r\n\r\n2\r\n--b--\r\n',
      boundary,
      problem(['body', 'file'], 'too_long'),
    ],
  ])('refuses %s with 422, and keeps nothing', async (_what, body, headers, expected) => {
    const before = await rows();
    const answer = await post(body, { headers });
    expect([answer.status, answer.body]).toEqual([422, expect.objectContaining(expected as object)]);
    expect(await rows()).toEqual(before);
    await expectConsistent();
  });

  const nameless = problem(['body', 'file'], 'missing');
  it.each<[string, string, unknown]>([
    ['a browser form in which no file was chosen', part('name="file"; filename=""', '', 'application/octet-stream'), nameless],
    [
      'a browser form in which no file was chosen, without a type',
      part('name="file"; filename=""'),
      problem(['body', 'file'], 'value_error'),
    ],
    ['bytes with an empty name', part('name="file"; filename=""', 'bytes', 'application/octet-stream'), nameless],
    ['bytes without a name', part('name="file"', 'bytes', 'application/octet-stream'), nameless],
    ['a name in an unknown character set', part(`name="file"; filename*=nonsense''x`, 'bytes', 'application/octet-stream'), nameless],
    [
      'a nameless file behind a whole one',
      part('name="file"; filename="x"', 'x') + part('name="file"', 'bytes', 'application/octet-stream'),
      problem(['body', 'file'], 'too_long'),
    ],
    [
      'a field behind the file of the same name',
      part('name="file"; filename="x"', 'x') + part('name="file"', 'text'),
      problem(['body', 'file'], 'value_error'),
    ],
    [
      'a form inside of the form',
      part('name="file"', '--c\r\nContent-Disposition: file; filename="x"\r\n\r\n1\r\n--c--', 'multipart/mixed; boundary=c'),
      problem(['body', 'file'], 'value_error'),
    ],
    ['a part that belongs to no field', part('filename="x"', 'x'), nameless],
    ['a part that is no form data', '--b\r\nContent-Disposition: attachment; name="file"; filename="x"\r\n\r\nx\r\n', nameless],
    ['a part without a disposition', '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n', nameless],
    ['a disposition that breaks off', part('name="file"; filename', 'x'), nameless],
    ['parts between another boundary', part('name="file"; filename="x"', 'x').replaceAll('--b\r\n', '--c\r\n'), nameless],
    ['a header that never ends', part(`name="file"; filename="${'x'.repeat(20_000)}"`, 'x'), problem(['body'], 'value_error')],
    ['headers without end', `--b\r\n${'x-a: b\r\n'.repeat(5_000)}`, problem(['body'], 'value_error')],
    ['a header that is none', '--b\r\nContent-Disposition\r\n\r\nx\r\n', problem(['body'], 'value_error')],
    [
      'more parts than a form needs',
      part('name="a"', '1').repeat(40) + part('name="file"; filename="x"', 'x'),
      problem(['body'], 'too_long'),
    ],
    [
      'more files than a form needs',
      part('name="a"; filename="a"', '1').repeat(12) + part('name="file"; filename="x"', 'x'),
      problem(['body'], 'too_long'),
    ],
  ])('refuses %s with 422, and keeps nothing', async (_what, parts, expected) => {
    const before = await rows();
    const answer = await post(`${parts}--b--\r\n`, { headers: boundary });
    expect([answer.status, answer.body]).toEqual([422, expect.objectContaining(expected as object)]);
    expect(await rows()).toEqual(before);
    await expectConsistent();
  });

  it.each<[string, string, string]>([
    ['between other fields', part('name="a"', '1') + part('name="file"; filename="x.txt"', 'x') + part('name="b"', '2'), 'x.txt'],
    [
      'between other files, nameless ones too',
      part('name="a"', '1', 'application/octet-stream') + part('name="file"; filename="x.txt"', 'x') + part('name="b"; filename="y"', '2'),
      'x.txt',
    ],
    ['called by an encoded name', part(`name="file"; filename="y"; filename*=UTF-8''%C3%A4.txt`, 'x'), 'ä.txt'],
    ['called by a name of which nothing is left', part('name="file"; filename="../"', 'x'), 'file'],
    ['whose type is nonsense', part('name="file"; filename="x"', 'x', ';;;'), 'x'],
  ])('takes a file %s', async (_what, parts, filename) => {
    expect(await post(`${parts}--b--\r\n`, { headers: boundary })).toMatchObject({ status: 201, body: { filename } });
  });

  it.each([
    ['JSON', '{"file":"x"}', 'application/json'],
    ['broken JSON', '{', 'application/json'],
    ['a form without files', 'file=x', 'application/x-www-form-urlencoded'],
    ['bytes', 'x', 'application/octet-stream'],
  ])('refuses %s with 415', async (_what, body, type) => {
    expect(await post(body, { headers: { 'Content-Type': type } })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type', detail: expect.stringContaining('multipart/form-data') },
    });
  });

  it('takes 50 MiB and not one byte more', async () => {
    const largest = Buffer.alloc(50 * MiB, 'a');
    expect((await post(form('file', largest, 'big.txt'))).body).toMatchObject({ size_bytes: 50 * MiB });
    const before = await rows();
    const refused = await post(form('file', Buffer.concat([largest, Buffer.from('b')]), 'big.txt'));
    expect([refused.status, refused.body]).toEqual([
      413,
      { detail: expect.any(String), code: 'payload_too_large', request_id: expect.any(String) },
    ]);
    expect((await post(form('other', Buffer.alloc(52 * MiB), 'big.txt'))).status).toBe(413);
    expect(await rows()).toEqual(before);
    await expectConsistent();
  });

  it('counts bytes that nobody has announced', async () => {
    const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="other"; filename="x"\r\n\r\n');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = http.request(
        `${t.url}/api/orgs/${org.id}/uploads`,
        { method: 'POST', headers: { ...boundary, Authorization: `Bearer ${org.owner.token}` } },
        (response) => resolve(response.statusCode),
      );
      request.on('error', reject);
      request.write(head);
      for (let i = 0; i < 52; i++) request.write(Buffer.alloc(MiB));
      request.end();
    });
    expect(status).toBe(413);
  });

  it('keeps nothing of an upload whose client goes away', async () => {
    const before = await rows();
    await new Promise<void>((resolve) => {
      const request = http.request(`${t.url}/api/orgs/${org.id}/uploads`, {
        method: 'POST',
        headers: { ...boundary, 'Content-Length': '1000000', Authorization: `Bearer ${org.owner.token}` },
      });
      request.on('error', () => resolve());
      request.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf of it');
      const poll = setInterval(() => {
        void rows().then((now) => {
          // The upload is under way.
          if (now.length === before.length) return;
          clearInterval(poll);
          request.destroy();
        });
      }, 20);
    });
    while ((await rows()).length > before.length) await new Promise((r) => setTimeout(r, 20));
    await expectConsistent();
  });

  it('keeps what came before a crash from everybody, and removes it later', async () => {
    // What a process leaves that dies after the bytes and before the end of the upload.
    const id = await uploaded('half');
    await t.db.execute(
      sql(`UPDATE files SET sha256 = '', media_type = '', size_bytes = 0, expires_at = now() + interval '1 hour' WHERE id = $1`),
      [id],
    );
    expect((await get(id)).status).toBe(404);
    expect(await service().link(t.db as never, OrgScope.system(org.id, 'test'), { kind: 'shelf', id: 's' }, [id])).toEqual([]);
    await expire(id);
    await t.get(Maintenance).runAll();
    expect((await rows()).some((r) => r.id === id)).toBe(false);
    await expectConsistent();
  });

  it('is for members', async () => {
    expect((await post(form('file', 'x', 'x.txt'), { as: org.member })).status).toBe(201);
  });
});

describe('GET files/{file_id}', () => {
  it('answers bytes that no browser guesses at or runs', async () => {
    const answer = await get(await uploaded('<p>hi</p>', `ä'(1).html`));
    expect([answer.status, await answer.text()]).toEqual([200, '<p>hi</p>']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': '9',
      'content-disposition': `attachment; filename="_'(1).html"; filename*=UTF-8''%C3%A4%27%281%29.html`,
      'content-security-policy': `default-src 'none'; sandbox`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
    });
  });

  it.each([
    ['x.txt', 'hello', /^inline/],
    ['x.png', Buffer.from('89504e470d0a1a0a', 'hex'), /^inline/],
    ['x.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', /^attachment/],
    ['x.pdf', '%PDF-1.7', /^attachment/],
  ])('offers %s as it should', async (name, content, disposition) => {
    const answer = await get(await uploaded(content, name));
    await answer.arrayBuffer();
    expect(answer.headers.get('content-disposition')).toMatch(disposition);
  });

  it('answers HEAD, ranges and what the client has already', async () => {
    const id = await uploaded('0123456789');
    const head = async (headers = {}) => {
      const answer = await get(id, { method: 'HEAD', headers });
      return [answer.status, answer.headers.get('content-length'), await answer.text()];
    };
    expect([await head(), await head({ Range: 'bytes=2-4' }), await head({ Range: 'bytes=10-' })]).toEqual(Array(3).fill([200, '10', '']));
    const etag = (await get(id)).headers.get('etag')!;
    expect((await get(id, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const part = async (range: string, headers = {}) => {
      const answer = await get(id, { headers: { Range: range, ...headers } });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await part('bytes=8-99')).toEqual([206, 'bytes 8-9/10', '89']);
    expect(await part('bytes=0-1,4-5')).toEqual([200, null, '0123456789']);
    expect(await part('nonsense')).toEqual([200, null, '0123456789']);
    expect(await part('bytes=2-4', { 'If-Range': etag })).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await part('bytes=2-4', { 'If-Range': '"other"' })).toEqual([200, null, '0123456789']);
    const beyond = await get(id, { headers: { Range: 'bytes=10-' } });
    expect([
      beyond.status,
      beyond.headers.get('content-range'),
      beyond.headers.get('content-type'),
      beyond.headers.get('content-disposition'),
    ]).toEqual([416, 'bytes */10', 'application/json; charset=utf-8', null]);
    expect(await beyond.json()).toMatchObject({ code: 'range_not_satisfiable' });
  });

  it('is for its uploader and for who may open what refers to it; for all others it is not there', async () => {
    const id = await uploaded();
    const status = async (as: string) => (await get(id, { as })).status;
    expect([await status(org.owner.token), await status(org.member.token)]).toEqual([200, 404]);
    const link = (shelf: string) =>
      t.db.transaction(NO_CALLER, (tx) => service().link(tx, OrgScope.system(org.id, 'test'), { kind: 'shelf', id: shelf }, [id]));
    shelves.set('closed', []);
    await link('closed');
    expect(await status(org.member.token)).toBe(404);
    shelves.set('open', [org.member.id]);
    await link('open');
    expect([await status(org.owner.token), await status(org.member.token)]).toEqual([200, 200]);
    shelves.set('open', []);
    expect(await status(org.member.token)).toBe(404);
  });

  it('is not there in another organization, even for its uploader', async () => {
    const id = await uploaded();
    const other = await aTeam(t);
    await aMember(t, other, 'OWNER', org.owner);
    expect((await get(id, { orgId: other.id })).status).toBe(404);
    expect((await get(NOBODYS)).status).toBe(404);
    expect((await get('x')).status).toBe(422);
  });

  it('is 404, and not half an answer, where the bytes are lost', async () => {
    const id = await uploaded();
    await storage().delete(`${org.id}/${id}`);
    const answer = await get(id);
    expect([answer.status, answer.headers.get('etag'), await answer.json()]).toEqual([
      404,
      null,
      expect.objectContaining({ code: 'not_found' }),
    ]);
    await t.db.execute(sql('DELETE FROM files WHERE id = $1'), [id]);
  });
});

describe('files that nothing refers to', () => {
  const runAll = () => t.get(Maintenance).runAll();

  it('are gone after their time, and those that something refers to stay', async () => {
    const [expired, linked, young] = [await uploaded(), await uploaded(), await uploaded()];
    await t.db.transaction(NO_CALLER, (tx) => service().link(tx, OrgScope.system(org.id, 'test'), { kind: 'shelf', id: 's' }, [linked]));
    await expire(expired);
    // Before anything is removed.
    expect((await get(expired)).status).toBe(404);
    await runAll();
    const left = (await rows()).map((r) => r.id);
    expect([left.includes(expired), left.includes(linked), left.includes(young)]).toEqual([false, true, true]);
    await expectConsistent();
    expect(await (await get(linked)).text()).toBe('hello');
  });

  it.each(['before the bytes are gone', 'after the bytes are gone'])('are found again when a removal was cut off %s', async (when) => {
    const id = await uploaded();
    await expire(id);
    await t.db.execute(sql(`UPDATE files SET expires_at = '-infinity' WHERE id = $1`), [id]);
    if (when.startsWith('after')) await storage().delete(`${org.id}/${id}`);
    await runAll();
    expect((await rows()).some((r) => r.id === id)).toBe(false);
    await expectConsistent();
  });

  it('are either linked or removed, whoever comes first', async () => {
    for (let i = 0; i < 30; i++) {
      const id = await uploaded();
      // It expires while somebody attaches it.
      await t.db.execute(sql(`UPDATE files SET expires_at = now() + interval '4 milliseconds' WHERE id = $1`), [id]);
      const link = () =>
        t.db.transaction(NO_CALLER, (tx) => service().link(tx, OrgScope.system(org.id, 'test'), { kind: 'shelf', id: 's' }, [id]));
      const [linked] = await Promise.all([
        new Promise((r) => setTimeout(r, i % 8)).then(link),
        new Promise((r) => setTimeout(r, (i * 3) % 8)).then(() => service().removeExpired(10)),
      ]);
      await service().removeExpired(10);
      expect([await storage().exists(`${org.id}/${id}`), (await rows()).some((r) => r.id === id)]).toEqual(
        linked.length ? [true, true] : [false, false],
      );
    }
  });
});
