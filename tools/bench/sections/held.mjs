/** Many turns at once, each streamed by the model over two seconds. Every run has processes of its own: memory is not given back. */
import { compared, cpuMs, interleaved, middle, printTable, rssKb } from '../lib/measure.mjs';

const SIZES = [256, 1_000];
const SAMPLE_MS = 100;
// The first two deltas come at once after 100 ms, then 19 more: 2.0 s.
const STEP = { text: 'word '.repeat(20).trim(), delay_ms: 100, chunk_delay_ms: 100 };
const TEXT = `Talk slowly.\n\`\`\`mock\n${JSON.stringify({ steps: [STEP] })}\n\`\`\``;

async function hold(system, count) {
  const chats = await system.newChats(count, { listening: true });
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, rssKb(system.pids))), SAMPLE_MS);
  const cpu = cpuMs(system.pids);
  const began = performance.now();
  const done = await Promise.allSettled(chats.map((chat) => system.turn(chat, TEXT)));
  const wall = (performance.now() - began) / 1_000;
  clearInterval(watch);
  system.forget(chats);
  const errors = done.filter(({ status }) => status === 'rejected');
  if (errors.length) console.error(errors[0].reason);
  return { wall, peak, errors: errors.length, cpu: (cpuMs(system.pids) - cpu) / count };
}

async function measure(system) {
  await system.stop();
  await system.start();
  const warm = await system.newChats(64, { listening: true });
  for (let i = 0; i < 4; i++) await Promise.all(warm.map((chat) => system.turn(chat, 'Hello')));
  system.forget(warm);
  const idle = rssKb(system.pids);
  const result = {};
  for (const count of SIZES) {
    const { peak, ...held } = await hold(system, count);
    result[count] = { ...held, kb: (peak - idle) / count };
  }
  return result;
}

export async function held({ floor, product, quick }) {
  const runs = await interleaved({ floor: () => measure(floor), product: () => measure(product) }, quick ? 1 : 2);
  const rows = SIZES.map((count) => {
    const [ours, theirs] = [runs.product, runs.floor].map((all) => all.map((run) => run[count]));
    const errors = `${middle(theirs, 'errors')} / ${Math.max(...ours.map((run) => run.errors))}`;
    return [count, ...compared(theirs, ours, 'wall'), errors, ...compared(theirs, ours, 'cpu'), ...compared(theirs, ours, 'kb')];
  });
  printTable(
    'Turns of two seconds, held at once',
    [
      'turns',
      'floor, wall s',
      'product',
      'ratio',
      'errors, floor / product',
      'floor, CPU ms a turn',
      'product',
      'ratio',
      'floor, RSS KB a turn',
      'product',
      'ratio',
    ],
    rows,
  );
}
