import { aPerson } from '@aps/identity/testing';
import { testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { anOrg } from './testing';
import { ORGS } from './testing/orgs';

const t = testService(ORGS);

it('refused requests count against the limit of a session like all others', async () => {
  const [stranger, { path }] = [await aPerson(t), await anOrg(t)];
  t.configure({ RATE_LIMITS: 'on', RATE_LIMIT_TOKEN: '1', RATE_LIMIT_TOKEN_BURST: '4' });
  const answers: unknown[] = [];
  for (const asked of [path, `/api/orgs/${uuidv7()}`, '/api/orgs/-', '/api/auth/me', path]) {
    const { status, headers } = await t.call('GET', asked, { as: stranger });
    answers.push([status, headers.get('ratelimit-remaining')]);
  }
  expect(answers).toEqual([
    [403, '3'],
    [403, '2'],
    [422, '1'],
    [200, '0'],
    [429, '0'],
  ]);
});
