import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppProcess } from './platform';

/** How often it asks who is ready. */
const PERIOD_MS = 200;

/**
 * What a Kubernetes Service is to its clients: hands each new TCP connection to one of the processes that are ready, knows nothing else
 * of them, and leaves connections alone that stand.
 */
export class Balancer {
  private readonly ready = new Set<AppProcess>();
  private readonly open = new Set<net.Socket>();
  private readonly server = net.createServer({ allowHalfOpen: true }, (client) => this.lead(client));
  private turn = 0;
  private stopped = false;

  private constructor(private readonly processes: AppProcess[]) {}

  static async start(port: number, processes: AppProcess[]): Promise<Balancer> {
    const balancer = new Balancer(processes);
    await new Promise<void>((resolve, reject) => balancer.server.once('error', reject).listen(port, '127.0.0.1', resolve));
    for (const process of processes) void balancer.watch(process);
    return balancer;
  }

  balances(process: AppProcess): boolean {
    return this.processes.includes(process);
  }

  /** Whether new connections may be led there. */
  leadsTo(process: AppProcess): boolean {
    return this.ready.has(process);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async watch(process: AppProcess): Promise<void> {
    while (!this.stopped) {
      const answer = await process.readyz().catch(() => undefined);
      if (answer?.status === 200) this.ready.add(process);
      else this.ready.delete(process);
      await sleep(PERIOD_MS, undefined, { ref: false });
    }
  }

  private lead(client: net.Socket): void {
    const candidates = this.processes.filter((process) => this.ready.has(process));
    const target = candidates[this.turn++ % candidates.length];
    if (!target) return void client.resetAndDestroy();
    const upstream = net.connect({ port: Number(new URL(target.url).port), host: '127.0.0.1', allowHalfOpen: true });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      this.open.add(one);
      // Ends are passed on as ends, breaks as breaks: what the process does to a connection, its client must see.
      one.pipe(other);
      one.once('error', () => other.resetAndDestroy());
      one.once('close', () => {
        this.open.delete(one);
        other.destroy();
      });
    }
  }
}
