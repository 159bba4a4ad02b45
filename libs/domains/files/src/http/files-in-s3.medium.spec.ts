import { Maintenance } from '@aps/platform/maintenance';
import { startTestS3, type TestS3 } from '../../../../platform/src/storage/testing/s3-server';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { fileForm, sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { FILES } from '../testing/files';

/** The S3 client's own. */
const TRIES = 3;
let s3: TestS3;
let org: TestTeam;

beforeAll(async () => {
  s3 = await startTestS3();
  const { endpoint, region, bucket, credentials } = s3.options;
  Object.assign(process.env, {
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    S3_PATH_STYLE: 'on',
  });
});
const t = testService(FILES);
beforeAll(async () => {
  org = await aTeam(t);
});
afterAll(() => s3?.close());

const upload = (content: Uint8Array<ArrayBuffer> | string) =>
  t.call('POST', `/api/orgs/${org.id}/uploads`, { as: org.owner, body: fileForm(content, 'x.txt') });
const uploaded = async (content: Uint8Array<ArrayBuffer> | string): Promise<string> => (await upload(content)).body.file_id;
const download = (id: string, headers?: Record<string, string>) =>
  t.call('GET', `/api/orgs/${org.id}/files/${id}`, { as: org.owner, headers });
const ids = async () => (await t.db.query(sql<{ id: string }>('SELECT id FROM files'))).map((r) => r.id);

it('a file in a bucket is streamed in parts, read in part, and removed', async () => {
  const id = await uploaded(new Uint8Array(20 * 1024 * 1024).fill(97));
  expect([...s3.objects.keys()]).toEqual([`${org.id}/${id}`]);
  expect(s3.requests).toContain('POST ?uploads');
  expect(await download(id, { Range: 'bytes=10-14' })).toMatchObject({ status: 206, text: 'aaaaa' });
  await t.db.execute(sql(`UPDATE files SET expires_at = now() WHERE id = $1`), [id]);
  await t.get(Maintenance).runAll();
  expect([s3.objects.size, await ids()]).toEqual([0, []]);
});

it('an upload is answered 503 while the storage is away, and nothing is left of it', async () => {
  s3.failNext('PUT', TRIES);
  const { status, headers, body } = await upload('hello');
  expect([status, headers.get('retry-after'), body.code]).toEqual([503, '2', 'service_unavailable']);
  expect([s3.objects.size, await ids()]).toEqual([0, []]);
});

it('a file is answered 503, and not 404, while the storage is away', async () => {
  const id = await uploaded('hello');
  s3.failNext('GET', TRIES);
  expect((await download(id)).status).toBe(503);
  expect((await download(id)).text).toBe('hello');
  await t.db.execute(sql('DELETE FROM files'));
  s3.objects.clear();
});

it('a file that cannot be removed keeps no other from it, and is removed later', async () => {
  const [stuck, other] = [await uploaded('stuck'), await uploaded('other')];
  await t.db.execute(sql(`UPDATE files SET expires_at = now() - CASE WHEN id = $1 THEN interval '1 second' ELSE interval '1 hour' END`), [
    stuck,
  ]);
  s3.failNext('DELETE', TRIES);
  await t.get(Maintenance).runAll();
  expect([await ids(), [...s3.objects.keys()]]).toEqual([[stuck], [`${org.id}/${stuck}`]]);
  expect([(await download(stuck)).status, (await download(other)).status]).toEqual([404, 404]);
  await t.get(Maintenance).runAll();
  expect([await ids(), s3.objects.size]).toEqual([[], 0]);
});
