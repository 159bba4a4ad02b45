import { randomUUID } from 'node:crypto';
import { WORKSPACE, type SandboxDriver } from '../sandbox/sandbox-driver';
import { ImageProblem } from './image-problem';

const TIME_MS = 30_000;
/** What no shell answers by itself. */
const EXIT_CODE = 42;

/** By what every shell has built in; `id` is asked where there is one, as not every kernel tells in /proc whose a process is. */
const SCRIPT = `
echo to-stderr >&2
if { echo kept > probe; } 2>/dev/null && read -r line < probe && [ "$line" = kept ]; then echo workspace=writable; fi
uid=$(id -u 2>/dev/null)
if [ -z "$uid" ]; then while read -r name number rest; do if [ "$name" = Uid: ]; then uid=$number; fi; done < /proc/self/status; fi
echo "uid=$uid"
exit ${EXIT_CODE}
`;

/**
 * Runs a command in an image: whether it has a shell, may write to its workspace, passes on its exit code and both its streams, and is not
 * run as root.
 *
 * @throws ImageProblem `probe`; what the sandbox throws
 */
export async function probe(sandbox: SandboxDriver, image: string, signal: AbortSignal): Promise<void> {
  const workspace = randomUUID();
  const command = { id: randomUUID(), argv: ['sh', '-c', SCRIPT], stdin: null, workdir: WORKSPACE, workspace, image, timeoutMs: TIME_MS };
  try {
    const { exitCode, stdout, stderr, timedOut } = await sandbox.exec(command, signal);
    if (timedOut) throw failed(`A command in it did not end within ${TIME_MS / 1_000} s.`);
    const [, uid] = /^uid=(\d+)$/m.exec(stdout.toString()) ?? [];
    if (!stderr.includes('to-stderr')) throw failed('It has no `sh` that runs commands.');
    if (exitCode !== EXIT_CODE) throw failed('The exit code of a command in it is not passed on.');
    if (!uid) throw failed('What a command in it writes is not passed on, or it does not tell as whom it runs.');
    if (!stdout.includes('workspace=writable')) throw failed(`A command in it cannot write to ${WORKSPACE}.`);
    if (uid === '0') throw failed('Its commands run as root.');
  } finally {
    await sandbox.removeWorkspace(workspace);
  }
}

const failed = (message: string) => new ImageProblem('probe', message);
