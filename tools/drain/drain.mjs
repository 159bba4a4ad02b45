/**
 * `npm run drain -- <worker ...> | --all [--resume]`: lets workers begin nothing new, or go on, and shows all that there are; without
 * arguments it only shows them. Asks the API at APS_URL with the token of an operator in APS_ADMIN_TOKEN; else that of the running
 * `npm start`.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { UserError, runMain, say } from '../dev/lib/console.mjs';
import { readJson } from '../dev/lib/files.mjs';
import { dataDir } from '../dev/lib/paths.mjs';

function place() {
  const running = readJson(path.join(dataDir(), 'dev.json'));
  const { APS_URL: url = running?.base_url, APS_ADMIN_TOKEN: token = process.env.APS_URL ? undefined : running?.admin_token } = process.env;
  if (!url || !token) throw new UserError('Set APS_URL and APS_ADMIN_TOKEN, a token of an operator, or run npm start meanwhile.');
  return { url: url.replace(/\/$/, ''), token };
}

async function ask({ url, token }, method, path) {
  const answer = await fetch(`${url}/api/admin/workers${path}`, { method, headers: { Authorization: `Bearer ${token}` } }).catch(
    (error) => {
      throw new UserError(`${url} does not answer: ${error.cause?.message ?? error.message}`);
    },
  );
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new UserError(`${method} ${path || '/'} answered ${answer.status} ${body.code ?? ''}: ${JSON.stringify(body.detail)}`);
  return body;
}

function lineOf({ id, app, version, draining, queues, leases }) {
  const active = queues.map(({ name, active: jobs, concurrency }) => `${name} ${jobs}/${concurrency}`).join(', ');
  return `${draining ? 'draining' : 'working '}  ${id}  ${app} ${version}  ${active}; leases ${leases.length}`;
}

const FLAG = { type: 'boolean', default: false };

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { all: FLAG, resume: FLAG, help: FLAG } });
  } catch (error) {
    throw new UserError(error.message);
  }
}

async function main() {
  const { values, positionals } = readArguments();
  if (values.help) return say('npm run drain -- <worker ...> | --all [--resume]');
  if (values.all && positionals.length) throw new UserError('Name workers, or say --all.');
  if (values.resume && !values.all && !positionals.length) throw new UserError('Name the workers to resume, or say --all.');
  const from = place();
  const workers = values.all ? (await ask(from, 'GET', '')).items.map(({ id }) => id) : positionals;
  for (const id of workers) await ask(from, 'POST', `/${encodeURIComponent(id)}/${values.resume ? 'resume' : 'drain'}`);

  const { items, queues } = await ask(from, 'GET', '');
  for (const worker of items) say(lineOf(worker));
  for (const { name, ready, active, oldest_ready_s: oldest } of queues)
    say(
      `queue     ${name}  ${ready === null ? 'Redis does not answer' : `${ready} wait, ${active} run, the oldest has waited ${Math.round(oldest)} s`}`,
    );
}

await runMain(main);
