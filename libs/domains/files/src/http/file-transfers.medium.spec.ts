import http from 'node:http';
import { loadConfig } from '@aps/platform/config';
import { metrics } from '@aps/platform/observability';
import { aMember, aTeam, type TestTeam } from '@aps/orgs/testing';
import { fileForm, sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { FILES } from '../testing/files';
import { MOST_AT_ONCE } from './file-transfers';

const t = testService(FILES);
let org: TestTeam;

beforeAll(async () => {
  org = await aTeam(t);
});

const underWay = async () => (await t.db.query(sql<{ n: number }>(`SELECT count(*)::int AS n FROM files WHERE sha256 = ''`)))[0].n;
/** Until what is asked is so. */
const until = async (asked: () => Promise<boolean>) => {
  while (!(await asked())) await new Promise((r) => setTimeout(r, 20));
};
/** Uploads that stop in the middle, all of them under way. */
const stalled = async (n: number, of = org, as: Bearer = of.owner): Promise<http.ClientRequest[]> => {
  const before = await underWay();
  const requests = Array.from({ length: n }, () => {
    const request = http.request(`${t.url}/api/orgs/${of.id}/uploads`, {
      method: 'POST',
      agent: false,
      headers: {
        'Content-Type': 'multipart/form-data; boundary=b',
        'Content-Length': '1000000',
        Authorization: `Bearer ${as.token}`,
      },
    });
    request.on('error', () => undefined);
    request.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf of it');
    return request;
  });
  await until(async () => (await underWay()) === before + n);
  return requests;
};
const upload = async (of = org, as: Bearer = of.owner) => {
  const { status, headers, body } = await t.call('POST', `/api/orgs/${of.id}/uploads`, { as, body: fileForm('hello', 'x.txt') });
  return { status, retryAfter: headers.get('retry-after'), body };
};
const counted = async () => {
  const { values } = await metrics.getSingleMetric('http_request_duration_seconds')!.get();
  const of = (status: string) =>
    (values as { metricName?: string; labels: Record<string, unknown>; value: number }[])
      .filter(({ metricName, labels }) => metricName?.endsWith('_count') && labels.status === status)
      .reduce((sum, { value }) => sum + value, 0);
  return { ofOne: of('503_of_one'), fault: of('503') };
};
const download = (id: string) => t.call('GET', `/api/orgs/${org.id}/files/${id}`, { as: org.owner });

it('a user has so many files on their way at once, up or down; another has as many', async () => {
  loadConfig({ ...process.env, RATE_LIMITS: 'on', RATE_LIMIT_FILES_PER_USER: '2' });
  const member = await aMember(t, org, 'MEMBER');
  const { body } = await upload();
  const [first, second] = await stalled(2);
  expect(await upload()).toMatchObject({ status: 429, retryAfter: '5', body: { code: 'rate_limited' } });
  expect((await download(body.file_id)).status).toBe(429);
  expect((await upload(org, member)).status).toBe(201);
  first.destroy();
  await until(async () => (await upload()).status === 201);
  expect(await download(body.file_id)).toMatchObject({ status: 200, text: 'hello' });
  second.destroy();
});

it('a user uploads the files of a message at once, and others of the organization find places beside them', async () => {
  await until(async () => (await underWay()) === 0);
  loadConfig({ ...process.env, RATE_LIMITS: 'on' });
  const member = await aMember(t, org, 'MEMBER');
  const requests = await stalled(20);
  expect((await upload()).status).toBe(429);
  loadConfig({ ...process.env, RATE_LIMITS: 'off' });
  const refused = { status: 503, retryAfter: '5', body: { code: 'service_unavailable' } };
  const before = await counted();
  expect(await upload()).toMatchObject(refused);
  // Nobody is called for what one user has too much of.
  await until(async () => (await counted()).ofOne === before.ofOne + 1);
  expect((await counted()).fault).toBe(before.fault);
  requests.push(...(await stalled(5, org, member)));
  expect((await upload(org, member)).status).toBe(201);
  for (const request of requests) request.destroy();
});

it('organizations that take all the places they get in a process leave some to the next', async () => {
  loadConfig({ ...process.env, RATE_LIMITS: 'off' });
  await until(async () => (await underWay()) === 0);
  const refused = { status: 503, retryAfter: '5', body: { code: 'service_unavailable' } };
  const member = await aMember(t, org, 'MEMBER');
  const requests = [...(await stalled(MOST_AT_ONCE / 4)), ...(await stalled(6, org, member))];
  expect(await upload(org, member)).toMatchObject(refused);
  const [second, third] = [await aTeam(t), await aTeam(t)];
  requests.push(...(await stalled(Math.floor((MOST_AT_ONCE - requests.length) / 4), second)));
  expect(await upload(second)).toMatchObject(refused);
  expect((await upload(third)).status).toBe(201);
  for (const request of requests.slice(MOST_AT_ONCE / 4 - 1)) request.destroy();
  await until(async () => (await upload()).status === 201);
  for (const request of requests) request.destroy();
});
