import { execSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveParent } from '../parent';

/** What a text could have a parser do that it has taken over, by name. */
const DEEDS = {
  environment: () => Object.keys(process.env).join(),
  file: () => readFileSync('/etc/passwd', 'utf8'),
  parent: () => readFileSync(`/proc/${process.ppid}/environ`, 'utf8'),
  write: () => writeFileSync('/tmp/prying', ''),
  program: () => execSync('id'),
  connection: () => once(connect(80, '127.0.0.1'), 'connect'),
  request: () => fetch('http://127.0.0.1/'),
  names: () => lookup('example.com'),
  heap: () => Array.from({ length: 1e9 }, (_, i) => ({ i })).length,
  buffers: async () => {
    const kept: Buffer[] = [];
    for (;;) await sleep(1, kept.push(Buffer.alloc(16 * 1024 * 1024, 1)));
  },
};
export type Deed = keyof typeof DEEDS;

const say = serveParent<{ deed: Deed }, { came: string }>(({ deed }) => {
  new Promise((resolve) => resolve(DEEDS[deed]())).then(
    (found) => say({ came: String(found) }),
    () => say({ came: 'refused' }),
  );
});
