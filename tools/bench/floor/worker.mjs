/** The floor's worker: reads the chat, streams the model, publishes its text and stores its answer. */
import http from 'node:http';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { CHANNEL, DONE, QUEUE, TEXT, history, insert, prepare } from './shared.mjs';

await prepare();
const connection = () => new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const publisher = connection();
const agent = new http.Agent({ keepAlive: true, maxSockets: 4_096 });

/** Resolves with the whole text of the model's answer; `onText` gets it piece by piece. */
function ask(messages, onText) {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify({ model: 'mock', stream: true, messages }));
    const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-feature': 'turn' };
    const request = http.request(`${process.env.MODEL_URL}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      let rest = '';
      let all = '';
      response.setEncoding('utf8').on('data', (piece) => {
        const frames = (rest + piece).split('\n\n');
        rest = frames.pop();
        const text = frames
          .map((frame) => (frame === 'data: [DONE]' ? '' : (JSON.parse(frame.slice(6)).choices[0]?.delta.content ?? '')))
          .join('');
        all += text;
        if (text) onText(text);
      });
      response.on('end', () => resolve(all)).on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}

async function run({ data: { chat, turn } }) {
  const text = await ask(await history(chat), (piece) => publisher.publish(CHANNEL, `${TEXT}${turn} ${JSON.stringify(piece)}`));
  await insert(chat, 'assistant', text);
  publisher.publish(CHANNEL, `${DONE}${turn}`);
}

const worker = new Worker(QUEUE, run, { connection: connection(), concurrency: 1_024 });
await worker.waitUntilReady();
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');
