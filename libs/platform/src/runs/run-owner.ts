import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { databaseConfig, KEEP_ALIVE } from '@aps/platform/database';
import { ProcessIdentity } from '@aps/platform/runtime';
import { Client } from 'pg';
import { ENTER, LEAVE, OWNER_SESSION } from './run-owner.sql';

/** How long claims wait for a new name; without it they go on, and only their leases tell whether their owner lives. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 1_000;

/**
 * The name under which this process owns runs. While it has one, a session of its own holds an advisory lock for it, which PostgreSQL
 * lets go when the process dies: so others learn of that at once, and not when its leases run out.
 *
 * A session that breaks takes its name with it. What runs under the old name may be given to others, and is fenced then; nothing is
 * claimed until there is a new one.
 */
@Injectable()
export class RunOwner implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('RunOwner');
  private session: { client: Client; n: number } | undefined;
  private names = 0;
  private waiting: Promise<string> | undefined;
  private ended = false;
  private failing = false;

  /** Undefined while there is none: then {@link named} tells the next one. */
  name: string | undefined;

  constructor(private readonly self: ProcessIdentity) {
    if (!databaseConfig.value.directUrl) this.name = self.id;
  }

  onApplicationBootstrap(): void {
    if (!this.name) void this.named();
  }

  /** The name, once there is one. */
  named(): Promise<string> {
    if (this.name) return Promise.resolve(this.name);
    return (this.waiting ??= this.take().finally(() => (this.waiting = undefined)));
  }

  private async take(): Promise<string> {
    const name = this.nextName();
    let patience: NodeJS.Timeout | undefined;
    const impatient = new Promise<void>((resolve) => (patience = setTimeout(resolve, PATIENCE_MS).unref()));
    await Promise.race([this.enter(name), impatient]);
    clearTimeout(patience);
    return (this.name ??= name);
  }

  private nextName(): string {
    this.names += 1;
    return this.names === 1 ? this.self.id : `${this.self.id}#${this.names}`;
  }

  /** Takes the lock of a name, and has the name from then on. Where that fails it is tried again later, under another one. */
  private async enter(name: string): Promise<void> {
    if (this.ended) return;
    const client = new Client({
      connectionString: databaseConfig.value.directUrl,
      application_name: OWNER_SESSION,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
      ...KEEP_ALIVE,
    });
    client.on('error', () => undefined);
    client.on('end', () => this.onEnd(client));
    try {
      await client.connect();
      const { processID } = client as Client & { readonly processID: number };
      const { rows } = await client.query<{ n: number }>(ENTER, [name, processID, this.self.app]);
      // Behind a pooler the lock would outlive this process.
      if (rows.length === 0) throw new Error('DATABASE_DIRECT_URL does not lead to PostgreSQL itself');
      this.session = { client, n: rows[0].n };
      this.name = name;
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.logger.warn(`Only leases tell that this worker lives: ${(error as Error).message}`);
      this.failing = true;
      await client.end().catch(() => undefined);
      setTimeout(() => void this.enter(this.nextName()), RETRY_MS).unref();
    }
  }

  /** What was claimed under the old name keeps it until the next heartbeat. */
  private onEnd(client: Client): void {
    if (this.ended || this.session?.client !== client) return;
    this.logger.warn('The session by which this worker is known to live has ended');
    this.session = undefined;
    this.name = undefined;
    void this.named();
  }

  beforeApplicationShutdown(): void {
    this.ended = true;
  }

  /** After all runs have been handed back. */
  async onApplicationShutdown(): Promise<void> {
    const { session } = this;
    this.session = undefined;
    if (!session) return;
    await session.client.query(LEAVE, [session.n]).catch(() => undefined);
    await session.client.end().catch(() => undefined);
  }
}
