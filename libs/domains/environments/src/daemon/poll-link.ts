import { setTimeout as sleep } from 'node:timers/promises';
import type { Link, LinkEnd, Target } from './link';
import { TOKEN_REFUSED } from './link';
import type { End, Wanted, Work } from './work';
import type { Works } from './works';

/** How long a request for work waits for some, seconds; and all that it may take, milliseconds. */
const WAIT_S = 20;
const REQUEST_MS = 40_000;
/** What is done says so this often, and hears then whether it is wanted, milliseconds. */
const BEAT_MS = 1_000;
const TRIES = 5;
/** No lease: the answer says which one it is. */
const UNKNOWN = 'unknown';
const LEASE_MOVED = 412;

interface Claimed {
  work?: Wanted | null;
  last_heartbeat: string;
}

/** It may be answered when it is asked again: nobody was there, or they were busy. */
const mayPass = (status: number): boolean => status === 0 || status === 429 || status >= 500;

/** Requests, where no socket can be opened. */
export class PollLink implements Link {
  private readonly beating = new Set<string>();
  private isOver = false;
  private readonly leaving = new AbortController();

  constructor(
    private readonly target: Target,
    private readonly works: Works,
    private readonly connected: () => void,
  ) {}

  /** Until nothing answers, or for so long, milliseconds: then somebody tries for a socket again. */
  async ended(ms: number): Promise<LinkEnd> {
    const end = await this.polled(Date.now() + ms);
    this.isOver = true;
    return end;
  }

  /** Claims nothing: tells what is there, until all of it has ended or nobody wants to know it. */
  async told(): Promise<void> {
    this.works.tellBy(this);
    while (this.works.ids.length && !this.isOver) await sleep(BEAT_MS);
    this.isOver = true;
  }

  private async polled(until: number): Promise<LinkEnd> {
    let answered = false;
    let failed = 0;
    while (Date.now() < until && !this.isOver) {
      if (answered && !this.works.hasRoom) {
        await sleep(BEAT_MS);
        continue;
      }
      // What is done here is told of once somebody answers, so the first request does not wait for work, and takes none where there is no room.
      const wait_s = answered ? Math.min(WAIT_S, Math.ceil((until - Date.now()) / 1_000)) : 0;
      const { status, body } = this.works.hasRoom
        ? await this.ask<Claimed>('claim', { hello: this.target.hello, wait_s })
        : await this.ask<Claimed>('heartbeat', { expected_last_heartbeat: UNKNOWN });
      if (status === 401) return TOKEN_REFUSED;
      if (answered && mayPass(status) && ++failed <= TRIES) {
        await sleep(failed * BEAT_MS);
        continue;
      }
      if (status !== 200 && status !== LEASE_MOVED) return { kind: answered ? 'lost' : 'refused' };
      failed = 0;
      if (!answered) {
        answered = true;
        this.works.tellBy(this);
        this.connected();
      }
      if (body?.work) {
        this.works.start(body.work);
        void this.beat(body.work.id, body.last_heartbeat);
      }
    }
    return { kind: 'lost' };
  }

  tell({ wanted: { id }, stdout, stderr, end }: Work): void {
    if (this.isOver) return;
    if (!end) return void this.beat(id, UNKNOWN);
    void this.result({ work_id: id, ...end, stdout: stdout.all().toString(), stderr: stderr.all().toString() });
  }

  leave(): void {
    this.isOver = true;
    this.leaving.abort();
  }

  /** Once for each, whoever begins. @param lease as it was told last; where that is another one by now, it is answered */
  private async beat(work_id: string, lease: string): Promise<void> {
    if (this.beating.has(work_id)) return;
    this.beating.add(work_id);
    for (let expected = lease; !this.isOver && this.works.isAt(work_id); await sleep(BEAT_MS)) {
      const { status, body } = await this.ask<{ last_heartbeat: string; cancel: boolean; context?: { last_heartbeat: string } }>(
        'heartbeat',
        {
          work_id,
          expected_last_heartbeat: expected,
        },
      );
      if (body?.cancel || status === 404 || status === 401) this.works.cancel(work_id);
      expected = body?.context?.last_heartbeat ?? body?.last_heartbeat ?? expected;
    }
    this.beating.delete(work_id);
  }

  private async result(result: End & { work_id: string; stdout: string; stderr: string }): Promise<void> {
    for (let i = 1; i <= TRIES && !this.isOver; i++) {
      const { status } = await this.ask('result', result);
      if (!mayPass(status)) return this.works.cancel(result.work_id);
      await sleep(i * BEAT_MS);
    }
  }

  /** @returns status 0 where nothing has answered */
  private async ask<T>(what: string, body: object): Promise<{ status: number; body: T | null }> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), REQUEST_MS);
    const stop = () => late.abort();
    this.leaving.signal.addEventListener('abort', stop);
    try {
      const response = await fetch(`${this.target.url}/api/daemon/work/${what}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.target.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: late.signal,
      });
      return { status: response.status, body: (await response.json()) as T };
    } catch {
      return { status: 0, body: null };
    } finally {
      clearTimeout(timer);
      this.leaving.signal.removeEventListener('abort', stop);
    }
  }
}
