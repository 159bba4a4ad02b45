/** The floor's gateway: stores the message, queues the turn, and answers with what the worker publishes about it. */
import http from 'node:http';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { QUEUE, TEXT, CHANNEL, insert, prepare } from './shared.mjs';

await prepare();
const connection = () => new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue(QUEUE, { connection: connection() });
const subscriber = connection();
const waiting = new Map();
let turns = 0;

subscriber.on('message', (_channel, message) => {
  const kind = message[0];
  const end = message.indexOf(' ');
  const turn = message.slice(1, end < 0 ? undefined : end);
  const response = waiting.get(turn);
  if (!response) return;
  if (kind === TEXT) return response.write(`event: text\ndata: ${message.slice(end + 1)}\n\n`);
  waiting.delete(turn);
  response.end('event: done\ndata: {}\n\n');
});
await subscriber.subscribe(CHANNEL);

async function take(body, response) {
  const { chat, text } = JSON.parse(body);
  await insert(chat, 'user', text);
  const turn = String(++turns);
  waiting.set(turn, response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await queue.add('turn', { chat, turn }, { removeOnComplete: true });
}

const server = http.createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece) => (body += piece));
  request.on('end', () => take(body, response).catch((error) => (console.error(error), response.destroy())));
});
server.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => process.send?.('ready'));
process.on('SIGTERM', () => process.exit(0));
