import { readFileSync } from 'node:fs';
import path from 'node:path';
import { storageConfig } from '@aps/platform/storage';
import { LIMITS } from './limits';
import { sandboxDir } from './sandbox.config';
import { WORKSPACE } from './sandbox-driver';
import { IS_ROOT, OWNER } from './workspaces';

/** Where programs are looked for, in sandboxes and to make them. */
export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** All variables of a command whose home is there. */
export const environment = (home: string = WORKSPACE): Record<string, string> => ({ PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb' });

/** Of the machine, what all commands see, and cannot change. */
export const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Folders in those that are ours, and not the system's. */
export const hidden = (): string[] =>
  [process.cwd(), path.resolve(storageConfig.value.dir), sandboxDir()].filter((folder) =>
    SYSTEM.some((shown) => folder.startsWith(`${shown}/`)),
  );

/** Of /etc, what programs need: no accounts, no keys, no addresses. */
export const ETC = [
  ...[
    'alternatives',
    'ca-certificates',
    'crypto-policies',
    'fonts',
    'ld.so.cache',
    'ld.so.conf',
    'ld.so.conf.d',
    'localtime',
    'magic',
    'mime.types',
  ],
  ...['nsswitch.conf', 'pki/ca-trust', 'pki/tls/certs', 'protocols', 'services', 'ssl/certs', 'ssl/openssl.cnf', 'timezone'],
].map((name) => `/etc/${name}`);

/** Whom commands are in their sandbox. */
export const USER = { uid: 1000, gid: 1000 };
export const PASSWD = `root:x:0:0::/:/bin/false\nagent:x:${USER.uid}:${USER.gid}::${WORKSPACE}:/bin/sh\n`;
export const GROUP = `root:x:0:\nagent:x:${USER.gid}:\n`;

/**
 * The first process in a sandbox: it says the line $1 on both outputs, goes to the folder $2 and runs the rest. It stays, so that the command is
 * no process 1, whose signals mean something else, and collects what others leave; what a shell says about signals is not the command's.
 */
const FIRST = `
printf '%s\\n' "$1"; printf '%s\\n' "$1" >&2
cd -P -- "$2" || exit 1
shift 2
exec 3>&2 2>/dev/null
(exec "$@" 2>&3 3>&-)
exit $?`;

/** The first process, as a program with its arguments. */
export const first = (key: string, workdir: string, argv: readonly string[]): string[] => ['sh', '-c', FIRST, 'sh', key, workdir, ...argv];

/** Runs a program with these variables and no others. */
export const withOnly = (variables: Record<string, string>): string[] => [
  'env',
  '-i',
  ...Object.entries(variables).map((each) => each.join('=')),
];

/** Bounds what the kernel bounds by process or user. Memory of a single process is cut far above the limit, for it may not outrun who watches. */
export const bounded = (processes: number = LIMITS.processes): string[] => [
  ...[
    'prlimit',
    `--nproc=${processes}`,
    `--fsize=${LIMITS.diskBytes}`,
    `--data=${4 * LIMITS.memoryBytes}`,
    '--core=0',
    '--nofile=4096',
    '--',
  ],
];

/** Has a program die with its parent, by SIGKILL. */
export const dyingWithParent = ['setpriv', '--pdeathsig', 'KILL', '--'];

/** How programs that make sandboxes are started here: they are nobody's root, and the first to go where memory runs out. */
export const started = (cpu: number): string[] => [
  ...['choom', '-n', '1000', '--', 'taskset', '-c', String(cpu)],
  ...(IS_ROOT ? ['setpriv', `--reuid=${OWNER.uid}`, `--regid=${OWNER.gid}`, '--clear-groups', '--inh-caps=-all', '--'] : []),
  ...dyingWithParent,
];

const load = new Map<number, number>();

/** Runs something on the processor that has the fewest commands. */
export async function onOneCpu<T>(run: (cpu: number) => Promise<T>): Promise<T> {
  if (!load.size) for (const cpu of ownCpus()) load.set(cpu, 0);
  const [cpu] = [...load].reduce((least, each) => (each[1] < least[1] ? each : least));
  const add = (commands: number) => load.set(cpu, load.get(cpu)! + commands);
  add(1);
  return run(cpu).finally(() => add(-1));
}

/** Numbers of the processors that this process may use: `0-3,8`. */
function ownCpus(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  return list.split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return Array.from({ length: to! - from! + 1 }, (_, i) => from! + i);
  });
}
