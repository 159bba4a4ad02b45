import { entitle } from '@aps/billing/testing';
import type { TestTeam } from '@aps/orgs/testing';
import { Maintenance } from '@aps/platform/maintenance';
import { eventually, sql } from '@aps/platform/testing';
import { ImageChecks, type CheckedImage } from '../images/image-checks';
import { Sandboxes } from '../sandbox/sandboxes';
import { EnvironmentsService } from '../testing';

const FINE: CheckedImage = { checks: [], digest: null, size_bytes: null, ok: true, says_nothing: false };

/** Images that are looked at, by name, each until it is let go or nobody wants that any more. */
const looks = new Map<string, { letGo: (found?: CheckedImage) => void; signal: AbortSignal }>();
const t = new EnvironmentsService();
let org: TestTeam;
beforeAll(() => t.start());
afterAll(() => t.close());
beforeEach(async () => {
  looks.clear();
  await entitle(t, { max_custom_environments: 5, max_custom_image_gb: 1 });
  org = await t.team();
  jest.spyOn(t.get(ImageChecks), 'check').mockImplementation(
    ({ reference }, signal) =>
      new Promise((resolve, reject) => {
        looks.set(reference.split('/').at(-1)!, { signal, letGo: (found = FINE) => resolve(found) });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  );
});
afterEach(() => {
  for (const { letGo } of looks.values()) letGo();
});

const make = async (image_ref: string, of = org) =>
  (await t.make('POST', `${of.path}/environments`, { as: of.owner, body: { kind: 'CUSTOM_IMAGE', image_ref } })).environment.id as string;
const at = (method: string, id: string, body?: object) => t.call(method, `${org.path}/environments/${id}`, { as: org.owner, body });
const look = async (name: string) =>
  (await eventually(
    () => Promise.resolve(looks.get(name)),
    (found) => !!found,
  ))!;
const stops = ({ signal }: { signal: AbortSignal }) =>
  eventually(
    () => Promise.resolve(signal.aborted),
    (aborted) => aborted,
  );
const jobs = () =>
  t.db.query(
    sql<{ id: string; last_error: string | null }>(`SELECT id, last_error FROM outbox WHERE job = 'environment.validate' ORDER BY id`),
  );

describe('a validation', () => {
  it('stops where another image is named', async () => {
    const id = await make('first');
    const first = await look('first');
    const [before] = await jobs();
    await at('PATCH', id, { image_ref: 'second' });
    expect((await jobs()).map((job) => job.id)).not.toContain(before.id);
    await stops(first);
    (await look('second')).letGo();
    await eventually(
      () => at('GET', id),
      ({ body }) => body.status === 'online',
    );
  });

  it('stops where its environment is deleted', async () => {
    const id = await make('first');
    const first = await look('first');
    expect((await at('DELETE', id)).status).toBe(204);
    expect(await jobs()).toEqual([]);
    await stops(first);
  });

  it('keeps an image that was fine where its registry cannot be asked, or it does not come, which is said, and no other', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const BUSY: CheckedImage = {
      ...FINE,
      checks: [{ name: 'registry', ok: false, detail: 'Too many requests.' }],
      ok: false,
      says_nothing: true,
    };
    const found: (id: string, name: string, what: CheckedImage) => Promise<object> = async (id, name, what) => {
      (await look(name)).letGo(what);
      looks.clear();
      const { body } = await eventually(
        () => at('GET', id),
        (answer) => answer.body.status !== 'validating',
      );
      return body;
    };
    const again = async (id: string, what: CheckedImage) => {
      await at('POST', `${id}/validate`);
      return found(id, `first@${digest}`, what);
    };
    const NOT_HERE: CheckedImage = {
      ...FINE,
      digest,
      checks: [{ name: 'pull', ok: false, detail: 'The disk is full.' }],
      ok: false,
      says_nothing: true,
    };
    const id = await make('first');
    expect(await found(id, 'first', NOT_HERE)).toMatchObject({ status: 'invalid', image_digest: digest });
    expect(await again(id, BUSY)).toMatchObject({ status: 'invalid' });
    expect(await again(id, { ...FINE, digest, size_bytes: 7 })).toMatchObject({ status: 'online' });
    expect(await again(id, NOT_HERE)).toMatchObject({ status: 'online', validation: { checks: NOT_HERE.checks, digest, size_bytes: 7 } });
    const kept = { status: 'online', image_digest: digest, validation: { checks: BUSY.checks, digest, size_bytes: 7 } };
    for (let times = 0; times < 2; times++) expect(await again(id, BUSY)).toMatchObject(kept);
    expect(await again(id, { ...FINE, digest, checks: [{ name: 'probe', ok: false, detail: 'No shell.' }], ok: false })).toMatchObject({
      status: 'invalid',
    });
    expect(await again(id, BUSY)).toMatchObject({ status: 'invalid', image_digest: digest });
    expect(await again(id, { ...FINE, digest })).toMatchObject({ status: 'online' });
    await at('PATCH', id, { image_ref: 'second' });
    expect(await found(id, 'second', BUSY)).toMatchObject({ status: 'invalid', image_digest: null });
  });

  it.each(['online', 'invalid'])('leaves one %s whose validation is given up', async (status) => {
    const digest = `sha256:${'c'.repeat(64)}`;
    const id = await make('first');
    (await look('first')).letGo({ ...FINE, digest, ok: status === 'online' });
    await eventually(
      () => at('GET', id),
      ({ body }) => body.status === status,
    );
    await at('POST', `${id}/validate`);
    const given = await look(`first@${digest}`);
    await t.db.execute(sql('DELETE FROM outbox WHERE id = (SELECT probe_id FROM environments WHERE id = $1)'), [id]);
    await t.get(Maintenance).runAll();
    const checks = [{ name: 'probe', ok: false, detail: 'It could not be validated to its end. Try again.' }];
    const validation = { checks, digest: status === 'online' ? digest : null };
    expect((await at('GET', id)).body).toMatchObject({ status, image_digest: digest, validation });
    await stops(given);
  });

  it('waits while its organization has two, and holds up no other one', async () => {
    for (const name of ['one', 'two', 'three']) await make(name);
    await eventually(jobs, (all) => !!all[2]?.last_error?.includes('as many running as it may'));
    await make('of-another', await t.team());
    await look('of-another');
    expect([...looks.keys()].sort()).toEqual(['of-another', 'one', 'two']);
    (await look('one')).letGo();
    await look('three');
  });
});

it('an image stays as long as an environment names it, and where nobody does, while one may be about to', async () => {
  const [named, other] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`);
  const driver = (await t.get(Sandboxes).driver())!;
  jest.spyOn(driver, 'images').mockResolvedValue([named, other]);
  const remove = jest.spyOn(driver, 'removeImage').mockResolvedValue();
  const removed = async () => {
    remove.mockClear();
    await t.get(Maintenance).runAll();
    return remove.mock.calls.map(([digest]) => digest);
  };
  const id = await make('first');
  await t.db.execute(sql('UPDATE environments SET image_digest = $2 WHERE id = $1'), [id, named]);
  expect([await removed(), await removed()]).toEqual([[], [other]]);
  await at('DELETE', id);
  expect([await removed(), await removed()]).toEqual([[other], [named, other]]);
});
