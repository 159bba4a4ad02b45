import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@aps/platform/database';
import { sql, type Chance } from '@aps/platform/testing';
import { ApiClient, accepted, persist, type Answer, type Platform, type Recoveries } from '../../api-gateway-e2e/support';
import { SIGNALS, workOf, type Input, type WorkName } from './definitions';

const LOOK_MS = 100;
/** Longest that a run may take: two leases, a restart of PostgreSQL, and all that has piled up meanwhile. */
const REST_MS = 240_000;
/** Most that passes before somebody cancels a run. */
const CANCEL_MS = 5_000;

/** A run that was acknowledged, and what it has to come to. */
export interface Begun {
  id: string;
  key: string | null;
  work: WorkName;
  input: Input;
  /** Whose payment it goes on with: its own, or that of the run that it was restarted from. */
  payer: string;
  /** What it was when somebody was told that it is cancelled, or over. */
  endedAs?: string;
}

/** Begins runs as careful clients do, tells them what they wait for, cancels some, and has some done again. */
export class Clients {
  readonly begun: Begun[] = [];
  /** Ids of signals that were acknowledged. */
  readonly told: string[] = [];
  over = 0;
  stuck = 0;
  private begins = 0;
  private readonly waited = new Map<string, () => void>();

  constructor(
    private readonly platform: Platform,
    private readonly db: Db,
    private readonly processes: Record<WorkName, string>,
    private readonly chance: Chance,
    /** On which connections are cut before an answer is heard. */
    private readonly lossy: ApiClient,
    private readonly recoveries: Pick<Recoveries<string>, 'look'>,
  ) {}

  /** One run from its start to its end, and what is done with it then. */
  async work(work: WorkName): Promise<void> {
    const n = ++this.begins;
    const input = workOf(work).input(this.chance, n);
    const run = await this.begin(work, input, `certificate-${n}`);
    const fate = this.chance.between(1, 10);
    await (fate <= 2 ? this.cancelled(run) : this.driven(run));
    if (fate >= 2 && fate <= 3 && !run.stuck) await this.again(run);
    this.over++;
  }

  /** Watches the database until it is told to end: runs that are over, and how faults delay them. */
  async watch(isOver: () => boolean): Promise<void> {
    for (; !isOver(); await sleep(LOOK_MS)) {
      try {
        await this.recoveries.look();
        const ids = [...this.waited.keys()];
        if (!ids.length) continue;
        for (const { id } of await this.db.query(OVER, [ids])) this.waited.get(id)?.();
      } catch {
        // The server is away; that is part of it.
      }
    }
  }

  private async begin(work: WorkName, input: Input, key: string): Promise<Begun & { stuck?: boolean }> {
    const body = { input, idempotency_key: key };
    const start = (client: ApiClient) => client.call('POST', this.path(work), { body });
    if (this.chance.between(1, 10) <= 2) await start(this.lossy).catch(() => undefined);
    const { id } = await persist(() => start(this.platform).then(accepted));
    return this.note({ id, key, work, input, payer: id });
  }

  private note(run: Begun): Begun {
    this.begun.push(run);
    return run;
  }

  private async driven(run: Begun & { stuck?: boolean }): Promise<void> {
    const end = this.ended(run.id);
    if (workOf(run.work).isTold) await this.tell(run);
    run.stuck = !(await end);
    if (run.stuck) this.stuck++;
  }

  /** Two signals that it waits for, and at times another: early, when it waits, or one so and one so. */
  private async tell(run: Begun): Promise<void> {
    const moment = this.chance.choose(['early', 'waiting', 'split']);
    if (this.chance.between(1, 3) === 1) await this.signal(run, 'something_else', null);
    for (const [i, payload] of SIGNALS.entries()) {
      if (moment === 'waiting' || (moment === 'split' && i === 1)) await this.waitsFor(run, ['told', 'told_again'][i]);
      await this.signal(run, 'told', payload);
    }
  }

  private async signal({ id, work }: Begun, name: string, payload: unknown): Promise<void> {
    const headers = { 'Idempotency-Key': `${id}-${this.told.length}-${name}` };
    const path = `${this.path(work)}/${id}/signal`;
    const signal = await persist(async () => {
      const answer = await this.platform.call('POST', path, { body: { name, payload }, headers });
      // That it is over too early is found in what it has come to.
      return answer.body?.code === 'run_terminal' ? null : (accepted(answer).id as string);
    });
    if (signal) this.told.push(signal);
  }

  private async waitsFor({ id, work }: Begun, step: string): Promise<void> {
    for (const end = Date.now() + REST_MS; Date.now() < end; await sleep(4 * LOOK_MS)) {
      const { steps, finished_at } = await persist(() => this.platform.call('GET', `${this.path(work)}/${id}`).then(accepted));
      if (finished_at !== null || (steps as Answer['body'][]).some(({ path, status }) => path === step && status === 'waiting')) return;
    }
  }

  private async cancelled(run: Begun): Promise<void> {
    await sleep(this.chance.between(0, CANCEL_MS));
    const { status } = await persist(() => this.platform.call('POST', `${this.path(run.work)}/${run.id}/cancel`).then(accepted));
    run.endedAs = status as string;
  }

  /** Does a run again, as a whole or from behind its payment. */
  private async again(run: Begun): Promise<void> {
    const { again } = workOf(run.work);
    const from = run.endedAs === undefined && again && this.chance.between(1, 2) === 1 ? again : null;
    const headers = { 'Idempotency-Key': `again-${run.id}` };
    const path = `${this.path(run.work)}/${run.id}/restart`;
    const { id } = await persist(() => this.platform.call('POST', path, { body: { from_step: from }, headers }).then(accepted));
    await this.driven(this.note({ ...run, id, key: null, payer: from ? run.payer : id, endedAs: undefined }));
  }

  /** @returns false where it takes too long */
  private async ended(id: string): Promise<boolean> {
    const late = new AbortController();
    const ended = new Promise<boolean>((resolve) => this.waited.set(id, () => resolve(true)));
    const gaveUp = sleep(REST_MS, false, { signal: late.signal }).catch(() => false);
    const isOver = await Promise.race([ended, gaveUp]);
    this.waited.delete(id);
    late.abort();
    return isOver;
  }

  private path(work: WorkName): string {
    return `/api/orgs/${this.platform.demo.org_id}/processes/${this.processes[work]}/runs`;
  }
}

const OVER = sql<{ id: string }>('SELECT id FROM process_runs WHERE id = ANY($1::uuid[]) AND finished_at IS NOT NULL');
