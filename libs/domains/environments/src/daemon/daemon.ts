import { setTimeout as sleep } from 'node:timers/promises';
import type { LinkEnd, Target } from './link';
import { PollLink } from './poll-link';
import { SocketLink } from './socket-link';
import type { Works } from './works';

/** While requests are answered and sockets are not, how often a socket is tried for, milliseconds. */
const POLLING_MS = 10 * 60_000;
/** A gateway that restarts refuses a socket, too. */
const REFUSALS = 3;
/** Between attempts, milliseconds: from the least on twice as long each time, somewhat more or less so that not all come at once. */
const BACKOFF_MS = { least: 500, most: 30_000 };

/** Keeps a connection, by a socket where that can be opened, and by requests where it cannot. */
export class Daemon {
  private link: SocketLink | PollLink | undefined;
  private isLeaving = false;
  private failures = 0;

  constructor(
    private readonly target: Target,
    private readonly works: Works,
    private readonly say: (line: string) => void,
  ) {}

  /** @returns why it has ended, and not because it was told to; while it can be connected again, it does not */
  async run(): Promise<string | null> {
    for (;;) {
      let end = await this.bySocket();
      if (end.kind === 'refused' && this.failures >= REFUSALS - 1 && !this.isLeaving) end = await this.byRequests();
      if (this.isLeaving) return null;
      if (end.kind === 'over') return end.why;
      const ms = Math.min(BACKOFF_MS.most, BACKOFF_MS.least * 2 ** Math.min(this.failures++, 10));
      if (end.kind === 'lost' || this.failures === 1) this.say(`Not connected to ${this.target.url}; trying again.`);
      await sleep(ms * (0.5 + Math.random()));
    }
  }

  /** Kills what is done here, and says so. */
  async leave(): Promise<void> {
    this.isLeaving = true;
    this.works.cancelAll();
    await this.link?.leave();
  }

  private bySocket(): Promise<LinkEnd> {
    const link = new SocketLink(this.target, this.works, () => this.connected('a socket'));
    this.link = link;
    return link.ended();
  }

  private byRequests(): Promise<LinkEnd> {
    const link = new PollLink(this.target, this.works, () => this.connected('requests'));
    this.link = link;
    return link.ended(POLLING_MS);
  }

  private connected(by: string): void {
    this.failures = 0;
    this.say(`Connected to ${this.target.url} by ${by}.`);
  }
}
