/** The floor of a process: takes a job for a run, makes the calls of its steps one after another, and commits one row for each. */
import http from 'node:http';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
await pool.query(`
  CREATE TABLE IF NOT EXISTS steps (
    run uuid NOT NULL, n int NOT NULL, output jsonb NOT NULL, began timestamptz NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (run, n)
  )`);
const agent = new http.Agent({ keepAlive: true, maxSockets: 4_096 });

/** Resolves with the status and the JSON of the other side's answer. */
function call(url, key, body) {
  return new Promise((resolve, reject) => {
    const payload = Buffer.from(JSON.stringify(body));
    const headers = { 'content-type': 'application/json', 'content-length': payload.length, 'idempotency-key': key };
    const request = http.request(url, { method: 'PUT', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode, json: JSON.parse(text) })).on('error', reject);
    });
    request.on('error', reject).end(payload);
  });
}

async function run({ data: { id, url, steps, input } }) {
  for (let n = 0; n < steps; n++) {
    const began = new Date();
    const output = await call(url, `${id}/s${n}`, { input, n });
    const values = [id, n, JSON.stringify(output), began];
    await pool.query({ name: 'step', text: 'INSERT INTO steps (run, n, output, began) VALUES ($1, $2, $3, $4)', values });
  }
}

const connection = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const worker = new Worker(process.env.QUEUE, run, { connection, concurrency: 256 });
await worker.waitUntilReady();
process.on('SIGTERM', () => process.exit(0));
process.send?.('ready');
