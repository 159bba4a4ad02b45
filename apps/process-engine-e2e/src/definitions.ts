import type { Chance } from '@aps/platform/testing';
import type { Platform } from '../../api-gateway-e2e/support';

/** What a run is begun with. */
export type Input = Record<string, unknown> & { n: number };

/** What a run has to come to. */
export type Outcome = { status: 'completed'; output: unknown } | { status: 'flagged'; reason: string } | { status: 'failed'; code: string };

/** Work of about ten steps, by a definition of its own. */
export interface Work {
  /** @param url of the other side */
  definition: (url: string, agent: string) => Record<string, unknown> & { steps: unknown[] };
  input: (chance: Chance, n: number) => Input;
  /** By what it was begun with; `payer` is the run that has made its first payment. */
  outcome: (input: Input, payer: string) => Outcome;
  /** Whether it waits for two signals `told`. */
  isTold?: boolean;
  /** A step from which a run that is over may be done again, behind its payment. */
  again?: string;
}

/** A name that no two steps share, of a run and its restarts together. */
const memo = (name: string) => `\${run.id}/${name}`;

/** A call of the other side. Its wait is longer than the other side takes, but for `/late`. */
export const call = (id: string, method: 'PUT' | 'POST', url: string, name = id) => ({
  ...{ id, kind: 'tool', tool: 'core.http_request', timeout_s: 3, retry: { max_attempts: 5, initial_s: 0.5 } },
  arguments: { method, url, json: { memo: memo(name) } },
});

const nap = (id: string, seconds: unknown = '${input.nap}') => ({ id, kind: 'wait', for_s: seconds });
const set = (id: string, values: Record<string, unknown>) => ({ id, kind: 'transform', set: values });
const booked = (step: string) => `\${steps.${step}.output.json.booked}`;

/** Payments go well mostly; some are lost before, and some are answered too late. */
const aPath = (chance: Chance) => chance.choose(['book', 'book', 'book', 'book', 'book', 'book', 'dropped', 'late']);

export const CHILD = 'certificate-child';

export const WORK = {
  [CHILD]: {
    definition: (url) => ({
      steps: [
        set('triple', { n: '${input.n * 3}' }),
        call('put', 'PUT', `${url}/book`),
        nap('nap', 1),
        call('pay', 'POST', `${url}/book`),
        set('end', { n: '${vars.n}' }),
      ],
      output: '${steps.end.output}',
    }),
    input: (_, n) => ({ n }),
    outcome: ({ n }) => ({ status: 'completed', output: { n: n * 3 } }),
  },
  orders: {
    definition: (url) => ({
      steps: [
        set('begin', { double: '${input.n * 2}' }),
        call('put', 'PUT', `${url}/book`),
        call('pay', 'POST', `${url}/\${input.path}`),
        nap('nap'),
        {
          ...{ id: 'route', kind: 'branch' },
          branches: [{ when: 'input.n % 2 == 0', steps: [set('even', { way: 'even' })] }],
          else: [call('odd', 'PUT', `${url}/flaky`), set('odd_way', { way: 'odd' })],
        },
        { id: 'told', kind: 'wait', event: 'told' },
        { id: 'told_again', kind: 'wait', event: 'told' },
        call('last', 'PUT', `${url}/book`),
        set('end', { total: '${vars.double + steps.told.output.amount + steps.told_again.output.amount}' }),
      ],
      output: {
        way: '${vars.way}',
        paid: booked('pay'),
        told: ['${steps.told.output}', '${steps.told_again.output}'],
        total: '${vars.total}',
      },
    }),
    input: (chance, n) => ({ n, nap: chance.between(1, 3), path: aPath(chance) }),
    outcome: ({ n }, payer) => ({
      status: 'completed',
      output: { way: n % 2 ? 'odd' : 'even', paid: `${payer}/pay`, told: SIGNALS, total: n * 2 + 3 },
    }),
    isTold: true,
    again: 'told',
  },
  loops: {
    definition: (url) => ({
      steps: [
        set('begin', { first: '${input.items[0]}' }),
        {
          ...{ id: 'each', kind: 'loop', over: '${input.items}', concurrency: 3 },
          steps: [call('item_put', 'PUT', `${url}/book`, 'each/${vars.item_index}'), set('next', { next: '${vars.item + 1}' })],
        },
        {
          ...{ id: 'both', kind: 'parallel' },
          branches: [
            { id: 'left', steps: [call('left_pay', 'POST', `${url}/\${input.path}`), set('left_end', { paid: booked('left_pay') })] },
            { id: 'right', steps: [nap('right_nap'), call('right_put', 'PUT', `${url}/flaky`), set('right_end', { n: '${input.n}' })] },
          ],
        },
        {
          ...{ id: 'pays', kind: 'loop', over: '${input.items}', concurrency: 4, max_iterations: 4 },
          steps: [call('item_pay', 'POST', `${url}/book`, 'pays/${vars.item_index}'), set('paid', { paid: booked('item_pay') })],
        },
        { id: 'count', kind: 'loop', while: 'vars.item_index < 3', steps: [set('at', { at: '${vars.item_index}' })] },
      ],
      output: { each: '${steps.each.output}', both: '${steps.both.output}', pays: '${steps.pays.output}', count: '${steps.count.output}' },
    }),
    input: (chance, n) => ({ n, nap: chance.between(1, 2), path: aPath(chance), items: [n, n + 1, n + 2, n + 3] }),
    outcome: ({ n }, payer) => ({
      status: 'completed',
      output: {
        each: [1, 2, 3, 4].map((i) => ({ next: n + i })),
        both: { left: { paid: `${payer}/left_pay` }, right: { n } },
        pays: [0, 1, 2, 3].map((i) => ({ paid: `${payer}/pays/${i}` })),
        count: [0, 1, 2].map((at) => ({ at })),
      },
    }),
  },
  people: {
    definition: (url) => ({
      steps: [
        set('begin', { n: '${input.n}' }),
        call('put', 'PUT', `${url}/flaky`),
        { id: 'ok', kind: 'human', prompt: '${input.decision}' },
        {
          ...{ id: 'way', kind: 'branch' },
          branches: [{ when: 'steps.ok.output.decision == "approve"', steps: [call('approved', 'PUT', `${url}/book`)] }],
          else: [{ id: 'rejected', kind: 'flag', reason: 'Rejected ${input.n}' }],
        },
        call('pay', 'POST', `${url}/\${input.path}`),
        {
          ...{ id: 'amount', kind: 'human', prompt: '${input.n}' },
          form: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
        },
        nap('nap'),
        call('last', 'PUT', `${url}/book`),
        set('end', { amount: '${steps.amount.output.values.amount}' }),
      ],
      output: { amount: '${vars.amount}', paid: booked('pay') },
    }),
    input: (chance, n) => ({
      n,
      nap: chance.between(1, 2),
      path: aPath(chance),
      decision: chance.choose(['approve', 'approve', 'reject']),
    }),
    outcome: ({ n, decision }, payer) =>
      decision === 'reject'
        ? { status: 'flagged', reason: `Rejected ${n}` }
        : { status: 'completed', output: { amount: n, paid: `${payer}/pay` } },
  },
  families: {
    definition: (url, agent) => ({
      steps: [
        set('begin', { n: '${input.n}' }),
        {
          ...{ id: 'kids', kind: 'loop', over: [0, 1], as: 'kid', concurrency: 2 },
          steps: [{ id: 'child', kind: 'process', process: CHILD, input: { n: '${vars.n + vars.kid}' } }],
        },
        { id: 'agent', kind: 'agent', agent: agent, task: 'hello ${input.n}' },
        { id: 'model', kind: 'llm', prompt: 'say ${input.n}' },
        call('pay', 'POST', `${url}/\${input.path}`),
        nap('nap'),
        set('end', { said: ['${steps.agent.output}', '${steps.model.output}'] }),
      ],
      output: { kids: '${steps.kids.output}', said: '${vars.said}', paid: booked('pay') },
    }),
    input: (chance, n) => ({ n, nap: chance.between(1, 2), path: aPath(chance) }),
    outcome: ({ n }, payer) => ({
      status: 'completed',
      output: {
        kids: [{ n: n * 3 }, { n: (n + 1) * 3 }],
        said: [`You said: hello ${n}`, `You said: say ${n}`],
        paid: `${payer}/pay`,
      },
    }),
  },
  refusals: {
    definition: (url) => ({
      steps: [
        set('begin', { n: '${input.n}' }),
        call('put', 'PUT', `${url}/book`),
        call('refused', 'POST', `${url}/refuse`),
        nap('nap'),
        call('pay', 'POST', `${url}/book`),
        set('end', { gone: '${input.nothing.there}' }),
      ],
      on_error: [{ match: 'tool_rejected', steps: [call('sorry', 'PUT', `${url}/book`)], then: 'continue' }],
    }),
    input: (chance, n) => ({ n, nap: chance.between(1, 2) }),
    outcome: () => ({ status: 'failed', code: 'expression_error' }),
  },
} satisfies Record<string, Work>;

export type WorkName = keyof typeof WORK;

/** What the two signals bring that some work waits for, in their order. */
export const SIGNALS = [{ amount: 1 }, { amount: 2 }];

export const workOf = (name: WorkName): Work => WORK[name];

/** Pushes and deploys a definition as its author does. @returns the id of its process */
export async function deployed(platform: Platform, name: string, definition: Record<string, unknown>): Promise<string> {
  const processes = `/api/orgs/${platform.demo.org_id}/processes`;
  const ok = async (path: string, body?: unknown) => {
    const answer = await platform.call('POST', path, { body });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as { id: string };
  };
  const { id } = await ok(processes, { name, title: name });
  const { id: revision } = await ok(`${processes}/${id}/revisions`, { definition: { schema_version: 1, ...definition } });
  await ok(`${processes}/${id}/revisions/${revision}/deploy`);
  return id;
}

/** Puts all work into force. @returns the id of the process of each */
export async function allDeployed(platform: Platform, url: string): Promise<Record<WorkName, string>> {
  const ids: Partial<Record<WorkName, string>> = {};
  for (const name of Object.keys(WORK) as WorkName[]) {
    const { definition }: Work = WORK[name];
    ids[name] = await deployed(platform, name, definition(url, platform.demo.agent_id));
  }
  return ids as Record<WorkName, string>;
}
