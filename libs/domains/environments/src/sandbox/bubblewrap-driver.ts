import { lstatSync, readlinkSync } from 'node:fs';
import { bounded, environment, ETC, first, GROUP, hidden, onOneCpu, PASSWD, PATH, started, SYSTEM, USER, withOnly } from './launch';
import { LIMITS } from './limits';
import { LocalDriver, type Launch } from './local-driver';
import { killTree } from './processes';
import { WORKSPACE, type CommandOutput, type SandboxCommand } from './sandbox-driver';
import { IS_ROOT } from './workspaces';

/** Where root puts the workspace for whom it then becomes, who may not be able to go there by its path. */
const PLACE = '/mnt';

const START = `
${IS_ROOT ? `mount -c --bind . ${PLACE} || exit 1` : ''}
exec "$@" 3<<PASSWD 4<<GROUP
${PASSWD}PASSWD
${GROUP}GROUP
`;

const temporary = (folder: string, bytes: number) => ['--perms', '1777', '--size', String(bytes), '--tmpfs', folder];

/** Namespaces of the kernel, by bubblewrap. */
export class BubblewrapDriver extends LocalDriver {
  readonly name = 'bubblewrap';
  readonly isolation = 'namespaces';
  protected readonly failure = 'bubblewrap does not work here: it is not installed, or the kernel does not let users have namespaces.';

  protected launch(
    command: SandboxCommand,
    key: string,
    files: string,
    run: (launch: Launch) => Promise<CommandOutput>,
  ): Promise<CommandOutput> {
    const start = [...(IS_ROOT ? ['unshare', '--mount', '--'] : []), 'sh', '-c', START, 'sh'];
    const inside = [...bounded(), ...first(key, command.workdir, [...withOnly(environment()), ...command.argv])];
    return onOneCpu((cpu) =>
      run({
        argv: [...start, ...started(cpu), 'bwrap', ...seen(IS_ROOT ? PLACE : files), '--', ...inside],
        env: { PATH },
        kill: killTree,
      }),
    );
  }
}

/** What a command sees, and is. */
function seen(workspace: string): string[] {
  return [
    ...[
      '--unshare-all',
      '--unshare-user',
      '--die-with-parent',
      '--new-session',
      '--disable-userns',
      '--cap-drop',
      'ALL',
      '--hostname',
      'sandbox',
    ],
    ...['--uid', String(USER.uid), '--gid', String(USER.gid)],
    ...SYSTEM.flatMap(shown),
    ...hidden().flatMap((folder) => ['--tmpfs', folder, '--remount-ro', folder]),
    ...ETC.flatMap((file) => ['--ro-bind-try', file, file]),
    ...['--ro-bind-data', '3', '/etc/passwd', '--ro-bind-data', '4', '/etc/group'],
    ...['--proc', '/proc', '--dev', '/dev', ...temporary('/dev/shm', LIMITS.sharedBytes), '--remount-ro', '/dev'],
    ...[...temporary('/tmp', LIMITS.temporaryBytes), '--bind', workspace, WORKSPACE, '--remount-ro', '/'],
  ];
}

function shown(folder: string): string[] {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
}
