/** The floor of a process: takes a job for a run, makes the calls of its steps one after another, and commits one row for each. */
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { call } from './call.mjs';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
await pool.query(`
  CREATE TABLE IF NOT EXISTS steps (
    run uuid NOT NULL, n int NOT NULL, output jsonb NOT NULL, began timestamptz NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (run, n)
  )`);

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
