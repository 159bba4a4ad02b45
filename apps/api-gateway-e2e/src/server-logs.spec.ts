import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createDataSource } from '@aps/platform/database';
import { loadConfig } from '@aps/platform/config';
import { OwnServer } from '../support/servers';

it('the log of PostgreSQL names what went wrong, and nobody’s address', async () => {
  const server = await OwnServer.start('postgres');
  loadConfig({ DATABASE_URL: server.url });
  const dataSource = await createDataSource({ entities: [] }, { url: server.url, poolSize: 1 }).initialize();
  try {
    await dataSource.query('CREATE TABLE people (email text PRIMARY KEY CHECK (length(email) < 40), boss text REFERENCES people)');
    const insert = (email: string, boss: string | null = null) => dataSource.query('INSERT INTO people VALUES ($1, $2)', [email, boss]);
    await insert('somebody@secret.example');
    await expect(insert('somebody@secret.example')).rejects.toMatchObject({ code: '23505' });
    await expect(insert('other@secret.example', 'nobody@secret.example')).rejects.toMatchObject({ code: '23503' });
    await expect(insert(`${'x'.repeat(40)}@secret.example`)).rejects.toMatchObject({ code: '23514' });
    const log = readFileSync(path.join(server.folder, 'logs/postgres.log'), 'utf8');
    expect(log.match(/ERROR: .*/g)).toEqual([
      expect.stringContaining('people_pkey'),
      expect.stringContaining('people_boss_fkey'),
      expect.stringContaining('people_email_check'),
    ]);
    expect(log).not.toContain('secret.example');
  } finally {
    await dataSource.destroy();
    await server.stop();
  }
});
