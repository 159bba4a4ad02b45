// `node secrets.js <folder>`: the secrets of an installation by compose.yaml, made on its first run and kept from then on. What is in
// the environment of a process wins over its file. One folder, and one volume, per kind of reader:
//
//   postgres/password      PostgreSQL
//   apps/secrets.env       every app, and the migration
//   internal/secrets.env   api-gateway and admin-api
const { randomBytes } = require('node:crypto');
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const folder = process.argv[2];

/** Answers what the file holds, made by `make` when it is not there: all of it or nothing, whenever this is interrupted. */
function keep(file, mode, make) {
  const name = path.join(folder, file);
  if (!existsSync(name)) {
    writeFileSync(`${name}.new`, make(), { mode, flush: true });
    renameSync(`${name}.new`, name);
    console.log(`made ${file}`);
  }
  return readFileSync(name, 'utf8');
}

// PostgreSQL runs as a user of its own, and nobody else mounts this one.
const password = keep('postgres/password', 0o444, () => randomBytes(24).toString('hex'));
keep('apps/secrets.env', 0o400, () => {
  const database = `postgres://aps:${password}@postgres:5432/agent_platform`;
  return `DATABASE_URL=${database}\nDATABASE_DIRECT_URL=${database}\nMASTER_KEYS=1:${randomBytes(32).toString('base64')}\n`;
});
keep('internal/secrets.env', 0o400, () => `INTERNAL_TOKEN_SECRET=${randomBytes(32).toString('hex')}\n`);
