import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

type Reply = { url?: string; done?: boolean; error?: string };

export type ServerKind = 'postgres' | 'redis' | 'pgbouncer';

/** A PostgreSQL, Redis or PgBouncer that belongs to one test, for tests that take it away. */
export class OwnServer {
  private constructor(
    private readonly keeper: ChildProcess,
    readonly url: string,
    /** Holds its data and, in `logs`, what it says. */
    readonly folder: string,
  ) {}

  /** @param upstream the database that a PgBouncer stands before */
  static async start(kind: ServerKind, upstream?: string): Promise<OwnServer> {
    const folder = mkdtempSync(path.join(process.env.APS_DATA_DIR ?? tmpdir(), `${kind}-`));
    const { DATABASE_URL: _d, REDIS_URL: _r, ...env } = process.env;
    const keeper = fork(path.join(__dirname, 'servers.mjs'), [kind, folder], {
      env: { ...env, UPSTREAM_URL: upstream },
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    const { url } = await reply(keeper);
    return new OwnServer(keeper, url ?? '', folder);
  }

  /** Ends the server with a signal; its data and its port stay for {@link restart}. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    return this.ask({ do: 'kill', signal });
  }

  /** Starts it again where it was. Resolves when it answers. */
  restart(): Promise<void> {
    return this.ask({ do: 'start' });
  }

  /** Connections stay open, and nothing answers. */
  freeze(): Promise<void> {
    return this.ask({ do: 'freeze' });
  }

  thaw(): Promise<void> {
    return this.ask({ do: 'thaw' });
  }

  async stop(): Promise<void> {
    if (this.keeper.exitCode !== null || this.keeper.signalCode !== null) return;
    const ended = new Promise((resolve) => this.keeper.once('exit', resolve));
    await this.ask({ do: 'stop' });
    this.keeper.kill('SIGTERM');
    await ended;
  }

  private async ask(message: { do: string; signal?: NodeJS.Signals }): Promise<void> {
    const answer = reply(this.keeper);
    this.keeper.send(message);
    await answer;
  }
}

function reply(keeper: ChildProcess): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      keeper.off('message', onMessage);
      keeper.off('exit', onExit);
    };
    const onMessage = (message: Reply) => {
      settle();
      if (message.error === undefined) resolve(message);
      else reject(new Error(message.error));
    };
    const onExit = () => {
      settle();
      reject(new Error('The keeper of a test server has ended.'));
    };
    keeper.on('message', onMessage);
    keeper.on('exit', onExit);
  });
}

/** Sends one command without arguments of its own to a Redis, e.g. FLUSHALL, and answers its first line. */
export function redisCommand(url: string, ...words: string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port || 6379), hostname, () =>
      socket.write(`*${words.length}\r\n${words.map((w) => `$${Buffer.byteLength(w)}\r\n${w}\r\n`).join('')}`),
    );
    socket.setTimeout(5_000, () => socket.destroy(new Error('Redis did not answer.')));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().split('\r\n')[0]);
    });
    socket.once('error', reject);
  });
}
