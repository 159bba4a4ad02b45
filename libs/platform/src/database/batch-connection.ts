import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, type Connection, type Submittable } from 'pg';
import { isConnectionLoss } from './errors';
import type { Statement } from './statement';

/**
 * A batch statement on its way through a connection. Its rows are told as soon as PostgreSQL has them, which is before it commits: a
 * query of the driver's own would get them together with the end of the transaction, since nothing asks the server to send them earlier.
 */
class BatchQuery implements Submittable {
  readonly name: string;
  readonly text: string;

  /**
   * @param items JSON
   * @param onRow is called before the commit
   * @param callback is called once, after the commit or when it has failed; the driver wraps it to watch the time
   */
  constructor(
    sql: Statement,
    private readonly items: string,
    private readonly onRow: (key: string, answer: string) => void,
    public callback: (error?: Error | null) => void,
  ) {
    this.name = sql.name;
    this.text = sql.text;
  }

  submit(connection: Connection): void {
    // The driver's own note of what is prepared on a connection; not in its types.
    const { parsedStatements } = connection as Connection & { readonly parsedStatements: Record<string, string | undefined> };
    connection.stream.cork();
    if (parsedStatements[this.name] === undefined) connection.parse({ name: this.name, text: this.text, types: [] }, true);
    connection.bind({ statement: this.name, values: [this.items] }, true);
    connection.execute(null, true);
    connection.flush();
    connection.sync();
    connection.stream.uncork();
  }

  handleDataRow({ fields: [key, answer] }: { fields: string[] }): void {
    this.onRow(key, answer);
  }

  handleCommandComplete(): void {
    // The transaction is still open.
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

/** How long a farewell may take: the other side may be gone without a word. */
const FAREWELL_MS = 1_000;

/** A connection that runs one batch after another, opened with the first and again after it was lost. */
export class BatchConnection {
  private client: Promise<Client> | undefined;
  private closed = false;

  /** @param begin prepares each connection for its work */
  constructor(
    private readonly options: ClientConfig,
    private readonly begin: (client: Client) => Promise<void>,
  ) {}

  /**
   * @param items JSON
   * @param onRow is called before the commit; must not throw
   * @returns when the batch is committed
   */
  async run(sql: Statement, items: string, onRow: (key: string, answer: string) => void): Promise<void> {
    if (this.closed) throw new Error('Client was closed and is not queryable');
    const client = await (this.client ??= this.open());
    try {
      await new Promise<void>((resolve, reject) => {
        client.query(new BatchQuery(sql, items, onRow, (error) => (error ? reject(error) : resolve())));
      });
    } catch (error) {
      if (isConnectionLoss(error)) void this.end();
      throw error;
    }
  }

  /** Ends it for good, whatever it is doing. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.race([this.end(), sleep(FAREWELL_MS, undefined, { ref: false })]);
  }

  /** The next batch opens another. */
  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.then((open) => open.end()).catch(() => undefined);
  }

  private open(): Promise<Client> {
    const client = new Client(this.options);
    const forget = () => {
      if (this.client === opened) this.client = undefined;
    };
    // The batch that was under way gets the error itself.
    client.on('error', forget).on('end', forget);
    const opened = client.connect().then(async () => {
      await this.begin(client).catch((error: unknown) => {
        void client.end();
        throw error;
      });
      return client;
    });
    opened.catch(forget);
    return opened;
  }
}
