import { PlanEntitlements } from '@aps/billing';
import { Plan, Subscription, TALLIES } from '@aps/entities';
import { aPerson, aSession, type Person } from '@aps/identity/testing';
import { sql } from '@aps/platform/testing';
import { gaveWay, recountTally, sumsOf, TEST_PLAN } from '@aps/testing';
import { buildDocument, operationsOf, type Document, type Operation } from './testing/document';
import { Fuzzer, Random, type FuzzRequest } from './testing/fuzz';
import { House } from './testing/house';
import { fill, OUTSIDE_OF_TENANTS, tenant, type Tenant } from './testing/tenant';
import { DocumentValidator } from './testing/validator';

/** Others look elsewhere, and further: `FUZZ_SEED=2 FUZZ_REQUESTS=100 npm test -- tools/house-check/fuzz`. The same ones send the same requests. */
const SEED = process.env.FUZZ_SEED ?? '1';
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 12);
/** Of an operation at the same moment. */
const AT_ONCE = 6;
/** What reads comes first and what removes last, so that most finds something to work on. */
const ORDER = ['GET', 'PUT', 'PATCH', 'POST', 'DELETE'];

let house: House;
let document: Document;
let validator: DocumentValidator;
let org: Tenant;
let operator: Person;
let params: Record<string, string>;

beforeAll(async () => {
  process.stdout.write(`Fuzz seed ${SEED}\n`);
  // What is limited by the minute answers 429 and nothing else.
  process.env.RATE_LIMITS = 'off';
  house = await new House().start();
  [document, org, operator] = [await buildDocument(), await tenant(house, 'f'), await aPerson(house, { admin: true })];
  validator = new DocumentValidator(document);
  const seeded = async (table: 'plans' | 'credit_packs') =>
    (await house.db.query(sql<{ id: string }>(`SELECT id FROM ${table} ORDER BY sort_order DESC LIMIT 1`)))[0].id;
  const sold = { plan_id: await seeded('plans'), pack_id: await seeded('credit_packs') };
  params = { ...OUTSIDE_OF_TENANTS, ...org.params, ...sold, user_id: org.member.id };
});
afterAll(async () => {
  delete process.env.RATE_LIMITS;
  await house?.close();
});

/** Gives the callers back what an operation before may have taken from them: their place in the organization and on the platform, and its plan. */
async function restore(): Promise<void> {
  await house.db.execute(sql('UPDATE users SET deactivated_at = NULL WHERE deactivated_at IS NOT NULL'));
  await house.db.execute(sql('UPDATE organizations SET suspended_at = NULL, deleted_at = NULL WHERE id = $1'), [org.id]);
  await house.db.execute(
    sql(
      `INSERT INTO memberships (id, org_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, 'OWNER') ON CONFLICT (org_id, user_id) DO UPDATE SET role = 'OWNER'`,
    ),
    [org.id, org.owner.id],
  );
  await house.db.manager.upsert(Subscription, { org_id: org.id, plan_id: TEST_PLAN.id, status: 'active', overrides: {} }, ['org_id']);
  await house.db.manager.update(Plan, TEST_PLAN.id, TEST_PLAN);
  for (const entitlements of house.all(PlanEntitlements)) entitlements.drop(null);
  await house.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1) ON CONFLICT DO NOTHING'), [operator.id]);
}

/** What is wrong about an answer: a status or a body that the document does not know. */
async function faultsOf(answer: Response, op: Operation, pointer: string[]): Promise<string[]> {
  const { status } = answer;
  const documented = op.responses[String(status)];
  if (status >= 500 || !documented) {
    const text = await answer.text();
    return gaveWay({ status, text }) ? [] : [`${status} ${text.slice(0, 300)}`];
  }
  const type = answer.headers.get('content-type')?.split(';')[0];
  if (type === 'text/event-stream')
    return validator.faults(await firstEvent(answer), ...pointer, String(status), 'content', type, 'schema');
  const text = await answer.text();
  if (!documented.content) return text === '' ? [] : [`${status} with a body`];
  if (!type || !documented.content[type])
    return type === undefined && text === ''
      ? [`${status} without a body`]
      : documented.content['application/octet-stream']
        ? []
        : [`${status} as ${type}`];
  if (type !== 'application/json') return [];
  return validator.faults(JSON.parse(text), ...pointer, String(status), 'content', type, 'schema').map((fault) => `${status}: ${fault}`);
}

async function firstEvent(answer: Response): Promise<unknown> {
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('\n\n')) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null') as unknown;
}

it(`answers ${REQUESTS} requests to every operation as it says`, async () => {
  const operations = operationsOf(document).sort(
    (a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method) || b.path.length - a.path.length,
  );
  const ids = [...new Set([...Object.values(org.params).filter((value) => value.length === 36), org.owner.id, org.member.id])];
  const found: string[] = [];
  const succeeded = new Set<string>();
  for (const { method, path, op } of operations) {
    // What an operation sends follows from its own name: one that is added changes nothing for the others.
    const fuzzer = new Fuzzer(document, new Random(`${SEED} ${method} ${path}`), ids);
    await restore();
    // One that ends sessions ends no more than its own.
    const { token: bearer } = await aSession(house, path.startsWith('/api/admin') ? operator : org.owner);
    const send = async (request: FuzzRequest): Promise<void> => {
      const filled = fill(
        Object.entries(request.params).reduce((rest, [name]) => rest.replace(`{${name}}`, `\u0001${name}\u0001`), path),
        params,
      );
      const address =
        Object.entries(request.params).reduce((rest, [name, value]) => rest.replace(`\u0001${name}\u0001`, value), filled) +
        (request.query && `?${request.query}`);
      const answer = await fetch(house.url + address, {
        method,
        redirect: 'manual',
        headers: { ...request.headers, ...(request.signedIn && { Authorization: `Bearer ${bearer}` }) },
        body: request.body,
        signal: AbortSignal.timeout(25_000),
      }).catch((error: Error) => error);
      const faults =
        answer instanceof Error
          ? [`no answer: ${answer.message}`]
          : await faultsOf(answer, op, ['paths', path, method.toLowerCase(), 'responses']);
      if (!(answer instanceof Error) && answer.status < 300) succeeded.add(`${method} ${path}`);
      if (faults.length)
        found.push(
          `${method} ${address.replaceAll(org.id, 'ORG')} [${request.what}] ${typeof request.body === 'string' ? request.body.slice(0, 300) : ''}\n    ${faults.slice(0, 4).join('\n    ')}`,
        );
    };
    const queue = fuzzer.requests(op, REQUESTS).values();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const request of queue) await send(request);
      }),
    );
  }
  if (found.length)
    throw new Error(`${found.length} answers to seed ${SEED} that the document does not know:\n${found.slice(0, 40).join('\n')}`);
  // Without this it might only ever have tried what is refused.
  const never = operations.map(({ method, path }) => `${method} ${path}`).filter((name) => !succeeded.has(name));
  process.stdout.write(
    `Fuzz: ${operations.length - never.length} of ${operations.length} operations had a success; not ${never.join(', ')}\n`,
  );
  expect(succeeded.size / operations.length).toBeGreaterThan(0.8);
});

it('leaves tallies that agree with their rows', async () => {
  for (const tally of TALLIES) {
    const kept = await sumsOf(house.db, tally);
    await recountTally(house.db, tally);
    expect([tally.table, await sumsOf(house.db, tally)]).toEqual([tally.table, kept]);
  }
});

it('waits for locks in no circle', async () => {
  const [{ deadlocks }] = await house.db.query(
    sql<{ deadlocks: number }>('SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()'),
  );
  expect(deadlocks).toBe(0);
});
