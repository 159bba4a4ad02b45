import type { Chance } from '@aps/testing';
import { script } from '@aps/chats/testing';

/** What steps of a random definition name. */
export interface StepNames {
  agent: string;
  /** A process that is deployed; null within one. */
  child: string | null;
}

/** How long anybody is patient; in whole seconds. */
const PATIENCE_S = 1;
const ON_TIMEOUT = ['fail', 'flag', 'continue'] as const;

/** A step that waits for something that others do, or that takes a moment. */
function anyStep(chance: Chance, id: string, { agent, child }: StepNames): Record<string, unknown> {
  const patience = chance.pick() < 0.6 ? { timeout_s: PATIENCE_S, on_timeout: chance.choose(ON_TIMEOUT) } : {};
  const kinds = [
    'human',
    'human',
    'event',
    'event',
    'events',
    'time',
    'repeatable',
    'once',
    'agent',
    ...(child ? ['process', 'process'] : []),
  ];
  switch (chance.choose(kinds)) {
    case 'human':
      return { id, kind: 'human', prompt: 'Well?', ...patience };
    case 'event':
      return { id, kind: 'wait', event: 'go', ...patience };
    case 'events': {
      const steps = [{ id: `${id}_go`, kind: 'wait', event: 'go', ...patience }];
      return { id, kind: 'loop', over: '${[1, 2, 3]}', as: 'n', concurrency: chance.choose([1, 3]), steps };
    }
    case 'time':
      return { id, kind: 'wait', for_s: `\${${(chance.pick() * 0.6).toFixed(2)}}` };
    case 'repeatable':
      return { id, kind: 'tool', tool: 'spec.read', arguments: { ms: Math.floor(chance.pick() * 200) } };
    case 'once':
      return { id, kind: 'tool', tool: 'spec.pay', arguments: { ms: Math.floor(chance.pick() * 200) } };
    case 'agent': {
      const asks = { tool_calls: [{ name: 'ask_human', arguments: { kind: 'question', prompt: 'Which?' } }] };
      const task =
        chance.pick() < 0.3 ? script(asks, { text: 'well' }) : script({ text: 'well', delay_ms: Math.floor(chance.pick() * 200) });
      return { id, kind: 'agent', agent, task, timeout_s: PATIENCE_S };
    }
    default:
      return { id, kind: 'process', process: child, input: {}, ...(chance.pick() < 0.4 && { timeout_s: PATIENCE_S }) };
  }
}

/** A definition of some such steps, one after another and side by side. */
export function anyDefinition(chance: Chance, names: StepNames): Record<string, unknown> {
  const branches = ['a', 'b', 'c'].slice(0, chance.choose([2, 3])).map((id) => ({ id, steps: [anyStep(chance, `${id}_step`, names)] }));
  const handler = chance.choose([null, 'fail', 'flag', 'continue']);
  return {
    schema_version: 1,
    steps: [
      { id: 'begin', kind: 'transform', set: { n: Math.floor(chance.pick() * 1e6) } },
      anyStep(chance, 'first', names),
      { id: 'both', kind: 'parallel', join: chance.choose(['all', 'any', 'settled']), branches },
      anyStep(chance, 'last', names),
    ],
    output: '${vars.n}',
    ...(handler && { on_error: [{ match: '*', steps: [{ id: 'mend', kind: 'transform', set: { mended: true } }], then: handler }] }),
    ...(chance.pick() < 0.3 && { concurrency: { key: 'one', limit: 1, strategy: chance.choose(['queue', 'reject', 'cancel_running']) } }),
  };
}
