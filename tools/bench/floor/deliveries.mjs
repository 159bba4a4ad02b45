/** The floor of taking a delivery in: reads the body, inserts it, answers. */
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
await pool.query(
  `CREATE TABLE IF NOT EXISTS deliveries (id uuid PRIMARY KEY, payload jsonb NOT NULL, received_at timestamptz NOT NULL DEFAULT now())`,
);

async function take(body, response) {
  const id = randomUUID();
  await pool.query({ name: 'insert', text: 'INSERT INTO deliveries (id, payload) VALUES ($1, $2::jsonb)', values: [id, body] });
  response.writeHead(202, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ event_id: id }));
}

const server = http.createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece) => (body += piece));
  request.on('end', () => take(body, response).catch((error) => (console.error(error), response.destroy())));
});
server.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => process.send?.('ready'));
process.on('SIGTERM', () => process.exit(0));
