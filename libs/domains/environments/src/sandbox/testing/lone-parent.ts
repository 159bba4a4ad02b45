import { randomUUID } from 'node:crypto';
import { WORKSPACE } from '../sandbox-driver';
import { Sandboxes } from '../sandboxes';

/** A process that runs a command in the sandbox that its settings name, for specs that kill it meanwhile: `lone-parent.js <shell script>`. */
async function runAlone(script: string): Promise<void> {
  const driver = await new Sandboxes().driver();
  const command = { id: randomUUID(), workspace: randomUUID(), argv: ['sh', '-c', script], workdir: WORKSPACE };
  await driver!.exec({ ...command, stdin: null, image: null, timeoutMs: 60_000 }, new AbortController().signal);
}

void runAlone(process.argv[2]!);
