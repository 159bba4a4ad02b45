import { Injectable } from '@nestjs/common';
import type { RunKindName } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { gauge } from '@aps/platform/observability';
import type { Gauge } from 'prom-client';
import { RunSweeper } from './run-sweeper';
import type { RunState } from './run.sql';

/** Gauges are asked together; who draws one draws all. */
const FRESH_MS = 5_000;

/**
 * Tells how many runs of each kind wait, and for what: what workers are scaled by. It is read from the rows, so every worker tells the
 * same, and a Redis that is away or empty makes no difference.
 */
@Injectable()
export class RunSignals {
  private states: { asked: number; value: Promise<Map<RunKindName, RunState>> } | undefined;

  constructor(
    private readonly db: Database,
    private readonly sweeper: RunSweeper,
  ) {
    const draw = (figure: keyof RunState) => async (g: Gauge<'kind'>) => {
      for (const [kind, state] of await this.ask()) g.set({ kind }, state[figure]);
    };
    gauge('runs_ready', 'Runs that a worker could take up now', ['kind'], draw('ready'));
    gauge('runs_oldest_ready_seconds', 'Age of the run that has waited longest for a worker', ['kind'], draw('oldest_ready_s'));
    gauge('runs_stuck', 'Runs that wait for a worker, and that none can take up', ['kind'], draw('stuck'));
    gauge('runs_active', 'Runs under a live lease, in all processes', ['kind'], draw('active'));
    gauge('runs_parked', 'Runs over the cap of their organization', ['kind'], draw('parked'));
    gauge('runs_waiting', 'Runs that wait for a time or for somebody', ['kind'], draw('waiting'));
  }

  private ask(): Promise<Map<RunKindName, RunState>> {
    if (!this.states || performance.now() - this.states.asked > FRESH_MS) this.states = { asked: performance.now(), value: this.measure() };
    return this.states.value;
  }

  private async measure(): Promise<Map<RunKindName, RunState>> {
    const states = new Map<RunKindName, RunState>();
    for (const rows of this.sweeper.kinds) states.set(rows.kind, await rows.state(this.db));
    return states;
  }
}
