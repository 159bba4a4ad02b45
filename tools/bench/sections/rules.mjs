/**
 * One message against 50 rules of three conditions, of which the last one holds: the product's compiled ones, a function that somebody has
 * written for just these, and json-rules-engine, where BENCH_PEERS names a folder that it is installed in.
 */
import { strictEqual } from 'node:assert';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { dist } from '../../dev/lib/paths.mjs';
import { compared, interleaved, middle, figure, printTable, ratio } from '../lib/measure.mjs';

const RULES = Array.from({ length: 50 }, (_, n) => ({ id: `rule-${n}`, word: `word${n}.`, least: n % 5 }));
const TEXT = `An order of ${'many things '.repeat(40)}with Word49. and no other`;
const PAYLOAD = { priority: 4, customer: { id: 7 } };
const FACTS = {
  ...{
    channel: 'webhook',
    sender: null,
    recipient: null,
    subject: 'An order',
    body_text: TEXT,
    attachments: [],
    headers: {},
    payload: PAYLOAD,
  },
  ...{ attachments: [], headers: {}, auth: null, size_bytes: 600, tags: [] },
};
/** Calls between two looks at the clock. */
const AT_ONCE = 20;

function compiledRules() {
  const require = createRequire(path.join(dist, 'x.js'));
  const rules = './libs/domains/inboxes/src/rules';
  const { compile } = require(`${rules}/rule-set.compile.js`);
  const { storedRuleSet } = require(`${rules}/revision.policy.js`);
  const all = ({ word, least }) => [
    { field: 'channel', op: 'eq', value: 'webhook' },
    { field: 'body.text', op: 'contains', value: word },
    { field: 'payload.priority', op: 'gte', value: least },
  ];
  const stages = RULES.map((rule) => ({ id: rule.id, kind: 'match', when: { all: all(rule) }, then: { action: 'drop' } }));
  const compiled = compile(storedRuleSet({ stages, default: { action: 'accept' } }));
  return () => compiled.evaluate(FACTS).end.decided_by;
}

/** What one would write for these rules and no others: without a trace, and without looking for text in any case but the one. */
function byHand() {
  const lines = RULES.map(
    ({ id, word, least }) => `if (m.channel === 'webhook' && text.includes('${word}') && m.payload.priority >= ${least}) return '${id}';`,
  );
  const decide = new Function('m', `const text = m.body_text.toLowerCase();\n${lines.join('\n')}\nreturn 'default';`);
  return () => decide(FACTS);
}

function peer(folder) {
  const { Engine } = createRequire(path.join(path.resolve(folder), 'x.js'))('json-rules-engine');
  const engine = new Engine();
  engine.addOperator('has', (text, word) => text.includes(word));
  RULES.forEach(({ id, word, least }, n) =>
    engine.addRule({
      priority: RULES.length - n,
      event: { type: id },
      conditions: {
        all: [
          { fact: 'channel', operator: 'equal', value: 'webhook' },
          { fact: 'text', operator: 'has', value: word },
          { fact: 'payload', path: '$.priority', operator: 'greaterThanInclusive', value: least },
        ],
      },
    }),
  );
  return async () => {
    const { events } = await engine.run({ channel: FACTS.channel, text: FACTS.body_text.toLowerCase(), payload: FACTS.payload });
    return events[0].type;
  };
}

/** Microseconds of a call. */
async function timed(call, ms) {
  const began = performance.now();
  let count = 0;
  let took;
  do {
    for (let n = 0; n < AT_ONCE; n++) {
      const decided = call();
      if (typeof decided !== 'string') await decided;
    }
    count += AT_ONCE;
    took = performance.now() - began;
  } while (took < ms);
  return { us: (took * 1_000) / count };
}

export async function rules({ quick }) {
  const folder = process.env.BENCH_PEERS;
  const calls = { hand: byHand(), compiled: compiledRules() };
  if (folder && existsSync(path.join(folder, 'node_modules/json-rules-engine'))) calls.peer = peer(folder);
  for (const call of Object.values(calls)) strictEqual(await call(), RULES.at(-1).id);
  const [ms, rounds] = quick ? [100, 4] : [500, 10];
  const variants = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, () => timed(call, ms)]));
  await interleaved(variants, 1);
  const runs = await interleaved(variants, rounds);
  const row = ['a message, microseconds', ...compared(runs.hand, runs.compiled, 'us')];
  const head = [`${RULES.length} rules`, 'by hand', 'compiled', 'ratio'];
  if (runs.peer) {
    head.push('json-rules-engine', 'times the compiled');
    row.push(figure(middle(runs.peer, 'us')), figure(ratio(runs.peer, runs.compiled, 'us')));
  }
  printTable('One message against rules', head, [row]);
}
