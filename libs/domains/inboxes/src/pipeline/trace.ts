import type { TraceRow } from '@aps/entities';

/** Measures what becomes a row of a trace. */
export class Stopwatch {
  private readonly started = performance.now();

  /** @param at the database's time */
  constructor(private readonly at: Date) {}

  row(row: Omit<TraceRow, 'started_at' | 'duration_ms' | 'matched' | 'detail'> & Partial<Pick<TraceRow, 'matched' | 'detail'>>): TraceRow {
    const duration_ms = Math.round((performance.now() - this.started) * 100) / 100;
    return { matched: null, detail: null, ...row, started_at: this.at.toISOString(), duration_ms };
  }
}
