/** What the floor's gateway and worker agree on. */
import pg from 'pg';

export const QUEUE = 'floor-turns';
export const CHANNEL = 'floor-turns';
export const TEXT = 't';
export const DONE = 'd';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, chat_id uuid NOT NULL, role text NOT NULL, content text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
  CREATE INDEX IF NOT EXISTS messages_chat ON messages (chat_id, id)`;

/** Makes the table. Both processes do; one of them at a time. */
export const prepare = () => pool.query(`BEGIN; SELECT pg_advisory_xact_lock(1); ${SCHEMA}; COMMIT`);

export const insert = (chat, role, content) =>
  pool.query({ name: 'insert', text: 'INSERT INTO messages (chat_id, role, content) VALUES ($1, $2, $3)', values: [chat, role, content] });

/** The newest messages, oldest first. */
export async function history(chat) {
  const { rows } = await pool.query({
    name: 'history',
    text: 'SELECT role, content FROM messages WHERE chat_id = $1 ORDER BY id DESC LIMIT 20',
    values: [chat],
  });
  return rows.reverse();
}
