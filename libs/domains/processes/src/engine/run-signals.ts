import { Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { counter, durationHistogram, gauge } from '@aps/platform/observability';
import { isOver } from './journal';
import { ASKING, type Asking } from './process-run.sql';
import type { Progress } from './progress';

/** From what is computed at once to what people take days for. */
const STEPS_S = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600, 6 * 3_600, 24 * 3_600, 3 * 24 * 3_600, 7 * 24 * 3_600];

const stepsTotal = counter('process_steps_total', 'Tries of steps that have ended, or of which nobody knows what became of them', [
  'kind',
  'outcome',
]);
const retriesTotal = counter('process_step_retries_total', 'Tries of steps beyond the first', ['kind']);
const stepSeconds = durationHistogram('process_step_seconds', 'From the begin of a try of a step to its end', ['kind'], STEPS_S);

/** Counts what an advance of a run has come to, once it is committed. */
export function countSteps({ written, events }: Progress): void {
  for (const row of written) {
    const { kind, status, started_at, finished_at } = row;
    if (isOver(row) || status === 'outcome_unknown') stepsTotal.inc({ kind, outcome: status });
    if (finished_at) stepSeconds.observe({ kind }, (finished_at.getTime() - started_at.getTime()) / 1_000);
  }
  for (const { type, metadata } of events) if (type === 'step_retried') retriesTotal.inc({ kind: metadata.kind as string });
}

/** The gauges are asked together. */
const FRESH_MS = 5_000;

/** Tells how many runs wait for humans, and for what. It is read from the rows, so every process tells the same. */
@Injectable()
export class HumanWaitSignals {
  private asking: { asked: number; value: Promise<Asking[]> } | undefined;

  constructor(private readonly db: Database) {
    const draw = (figure: keyof Asking) => async (g: { set: (value: number) => void }) => g.set((await this.ask())[0][figure]);
    gauge('process_runs_asking_humans', 'Runs of which a step waits for the answer of a human', [], draw('runs'));
    gauge('process_unknown_outcomes', 'Calls of steps whose outcome nobody knows, and a human has to tell', [], draw('unknown'));
    gauge('process_oldest_unknown_outcome_seconds', 'Age of the oldest question about such a call', [], draw('oldest_unknown_s'));
  }

  private ask(): Promise<Asking[]> {
    if (!this.asking || performance.now() - this.asking.asked > FRESH_MS)
      this.asking = { asked: performance.now(), value: this.db.query(ASKING, []) };
    return this.asking.value;
  }
}
