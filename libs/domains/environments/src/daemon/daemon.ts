import { setTimeout as sleep } from 'node:timers/promises';
import { TOKEN_REFUSED, type LinkEnd, type Target } from './link';
import { PollLink } from './poll-link';
import { SocketLink } from './socket-link';
import type { Works } from './works';

/** While requests are answered and sockets are not, how often a socket is tried for, and how long it may take to be welcome, milliseconds. */
const TIMES = { pollingMs: 10 * 60_000, welcomeMs: 15_000 };
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
    private readonly times = TIMES,
  ) {}

  /** @returns why it has ended, and not because it was told to; while it can be connected again, it does not */
  async run(): Promise<string | null> {
    for (;;) {
      let end = await this.bySocket();
      if (end.kind === 'refused' && this.failures >= REFUSALS - 1 && !this.isLeaving) end = await this.byRequests();
      if (end.kind === 'over' && !this.isLeaving) {
        if (end === TOKEN_REFUSED) await this.tellTheRest();
        // Nobody would know of what went on, or end it.
        this.works.cancelAll();
      }
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
    const link = new SocketLink(this.target, this.works, this.times.welcomeMs, () => this.connected('a socket', 0));
    this.link = link;
    return link.ended();
  }

  private byRequests(): Promise<LinkEnd> {
    const link = this.pollLink();
    return link.ended(this.times.pollingMs);
  }

  /** By a token that was replaced what was taken by it is still told of, to its end. */
  private tellTheRest(): Promise<void> {
    return this.pollLink().told();
  }

  private pollLink(): PollLink {
    // Where it is requests that work, the next socket that is refused is enough: what is done here may not be silent for long.
    const link = new PollLink(this.target, this.works, () => this.connected('requests', REFUSALS - 1));
    this.link = link;
    return link;
  }

  private connected(by: string, failures: number): void {
    this.failures = failures;
    this.say(`Connected to ${this.target.url} by ${by}.`);
  }
}
