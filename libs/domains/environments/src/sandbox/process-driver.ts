import path from 'node:path';
import { bounded, dyingWithParent, environment, first, onOneCpu, PATH, started, withOnly } from './launch';
import { LIMITS } from './limits';
import { LocalDriver, type Launch } from './local-driver';
import { killTree, threadCount } from './processes';
import { WORKSPACE, type CommandOutput, type SandboxCommand } from './sandbox-driver';

/** Runs commands as plain processes: bounded, but with all of the machine before them. For development where nothing isolates. */
export class ProcessDriver extends LocalDriver {
  readonly name = 'process';
  readonly isolation = 'none';
  protected readonly failure = 'Commands cannot be run here: programs of util-linux are missing.';

  protected launch(
    command: SandboxCommand,
    key: string,
    files: string,
    run: (launch: Launch) => Promise<CommandOutput>,
  ): Promise<CommandOutput> {
    // By this variable all its processes are found, whoever their parents are by now.
    const mark = { SANDBOX_COMMAND: key };
    const workdir = `./${path.posix.relative(WORKSPACE, command.workdir)}`;
    const argv = first(key, workdir, [...dyingWithParent, ...withOnly({ ...environment(files), ...mark }), ...command.argv]);
    return onOneCpu((cpu) =>
      run({
        // The kernel counts for this limit whatever else the user runs.
        argv: [...started(cpu), 'setpriv', '--no-new-privs', '--', ...bounded(threadCount() + LIMITS.processes), ...argv],
        env: { PATH, ...mark },
        kill: (child) => killTree(child, `SANDBOX_COMMAND=${key}`),
      }),
    );
  }
}
