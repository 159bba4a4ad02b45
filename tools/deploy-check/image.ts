import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { at, dockerfile, read, root } from './files';

/*
 * Makes the files of an image and runs commands on them as a container would, for machines without a docker daemon. It obeys the
 * instructions of the Dockerfile that make files, and refuses what it does not know.
 */

/** The user of a container; a test that is not root keeps its own. */
const USER = 10001;

/** The context that `docker build` would be given: of what is named, what .dockerignore lets through. */
function isInContext(file: string): boolean {
  const lines = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const matches = (glob: string) => {
    const [anywhere, rest] = glob.startsWith('**/') ? ['(?:.*/)?', glob.slice(3)] : ['', glob];
    return new RegExp(`^${anywhere}${rest.replace(/[.]/g, '\\.').replaceAll('*', '[^/]*')}(?:/.*)?$`).test(file);
  };
  // The last line that speaks of a file decides.
  return lines.reduce((isIn, line) => (line.startsWith('!') ? isIn || matches(line.slice(1)) : isIn && !matches(line)), true);
}

/** The files of one image. */
export interface Image {
  /** Its root directory, somewhere on this machine. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  cmd: string[];
  healthcheck: string[];
}

export class ImageBuilder {
  private readonly dir = mkdtempSync(path.join(tmpdir(), 'aps-image-'));
  /** Commands that have run, each with the folder of its stage. */
  private readonly done = new Set<string>();
  private readonly instructions = dockerfile();

  constructor() {
    // Everybody may pass, as the user of the containers is another one than ours.
    chmodSync(this.dir, 0o755);
  }

  /** Makes the image of an app. What all apps share is made once, as Docker's cache has it. */
  build(app: string): Image {
    const roots = new Map<string, string>();
    const workdirs = new Map<string, string>();
    const image: Image = { root: '', workdir: '/', env: {}, cmd: [], healthcheck: [] };
    for (const { name, args, stage } of this.instructions) {
      if (name === 'FROM') {
        // A stage on another one goes on in its folder. What ends as the image is one app's own.
        const isLast = stage === this.instructions.at(-1)?.stage;
        const base = args.split(' ')[0];
        roots.set(stage, roots.get(base) ?? path.join(this.dir, isLast ? `${stage}-${app}` : stage));
        workdirs.set(stage, workdirs.get(base) ?? '/');
        Object.assign(image, { root: roots.get(stage), workdir: workdirs.get(stage) });
        mkdirSync(image.root, { recursive: true });
      } else if (name === 'WORKDIR') {
        image.workdir = args;
        workdirs.set(stage, args);
        mkdirSync(path.join(image.root, args), { recursive: true });
      } else if (name === 'ENV')
        Object.assign(image.env, Object.fromEntries([...args.matchAll(/(\w+)=(\S+)/g)].map(([, key, value]) => [key, value])));
      else if (name === 'CMD') image.cmd = JSON.parse(args) as string[];
      else if (name === 'HEALTHCHECK') image.healthcheck = JSON.parse(/ CMD (.*)$/.exec(args)?.[1] ?? '') as string[];
      else if (name === 'COPY') this.copy(args, image, roots);
      else if (name === 'RUN' && (!this.done.has(`${image.root} ${args}`) || args.includes('$APP'))) this.run(args, image, app);
      else if (!['ARG', 'RUN', 'USER', 'EXPOSE', 'STOPSIGNAL', 'LABEL'].includes(name))
        throw new Error(`The Dockerfile has ${name}, which tools/deploy-check/image.ts does not know yet.`);
      this.done.add(`${image.root} ${args}`);
    }
    return image;
  }

  private copy(args: string, { root: to, workdir }: Image, roots: Map<string, string>): void {
    const words = args.split(/\s+/);
    const stage = words[0].startsWith('--from=') ? roots.get(words.shift()!.slice('--from='.length)) : undefined;
    const target = path.join(to, path.resolve(workdir, words.pop()!));
    for (const source of words) {
      const from = stage ? path.join(stage, source) : at(source);
      const into =
        statSync(from).isDirectory() || (words.length === 1 && !args.endsWith('/')) ? target : path.join(target, path.basename(source));
      cpSync(from, into, {
        recursive: true,
        preserveTimestamps: true,
        filter: (file) => stage !== undefined || statSync(file).isDirectory() || isInContext(path.relative(root, file)),
      });
    }
  }

  private run(args: string, { root: to, workdir }: Image, app: string): void {
    const cwd = path.join(to, workdir);
    if (/\bnpm ci\b/.test(args)) {
      // What is installed here is what the lock file says.
      if (!existsSync(path.join(cwd, 'node_modules'))) symlinkSync(at('node_modules'), path.join(cwd, 'node_modules'));
      return;
    }
    // Not a root directory of its own, so its paths are told by name; and only root can give files away.
    const script = args.replace(/(?<=^|[\s"'])\/(?=\w)/g, `${to}/`).replace(process.getuid?.() === 0 ? /$^/ : /-[og] \d+ /g, '');
    // The Node is ours. So are the packages: a build that wants to install them must not find an npm.
    const env = {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
      HOME: this.dir,
      APP: app,
      npm_execpath: '/nowhere/npm.js',
    };
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-ec', script], { cwd, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`RUN ${args} failed:\n${stdout}${stderr}`);
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A process on the files of an image: its command, its variables, its user, and nothing of the workspace. Ends with this process. */
export class Container {
  private readonly child: ChildProcess;
  private text = '';
  readonly ended: Promise<number | null>;

  /** @param volumes folders of this machine by where the command has them */
  constructor(image: Image, env: Record<string, string>, command = image.cmd, volumes: Record<string, string> = {}) {
    const cwd = path.join(image.root, image.workdir);
    const guard = path.join(image.root, 'orphan-guard.cjs');
    copyFileSync(at('tools/dev/lib/orphan-guard.cjs'), guard);
    if (command[0] !== 'node') throw new Error(`The command ${command.join(' ')} is not Node's.`);
    const args = command.slice(1).map((word) => Object.entries(volumes).reduce((text, [name, folder]) => text.replace(name, folder), word));
    this.child = spawn(process.execPath, ['--require', guard, ...args], {
      cwd,
      env: { ...image.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      ...(process.getuid?.() === 0 && mayRunNode() && { uid: USER, gid: USER }),
    });
    for (const output of [this.child.stdout, this.child.stderr]) output?.on('data', (data: Buffer) => (this.text += data.toString('utf8')));
    this.ended = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  logs(): string {
    return this.text;
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.child.kill('SIGTERM');
    const late = setTimeout(() => this.child.kill('SIGKILL'), 20_000);
    await this.ended;
    clearTimeout(late);
  }
}

/** A Node in root's home is nobody else's. */
const mayRunNode = (): boolean => spawnSync(process.execPath, ['--version'], { cwd: '/', uid: USER, gid: USER }).status === 0;

/** Every file below a folder with its size in bytes, by its path in there. */
export const filesOf = (folder: string): Map<string, number> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(folder, file), statSync(file).size]),
  );
