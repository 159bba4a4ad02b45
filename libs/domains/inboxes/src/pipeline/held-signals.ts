import { Injectable } from '@nestjs/common';
import type { HoldReason } from '@aps/entities';
import { Database } from '@aps/platform/database';
import { gauge } from '@aps/platform/observability';
import type { Gauge } from 'prom-client';
import { HELD } from './evaluation.sql';

type Held = { reason: HoldReason; n: number; oldest_s: number };

/** Of an inbox and reason; beyond that it is said to be so many. */
const COUNTED_TO = 10_000;
/** Both gauges are asked together. */
const FRESH_MS = 5_000;

/** Tells what is held, and for how long, by reason. It is read from the rows, so every process tells the same. */
@Injectable()
export class HeldSignals {
  private held: { asked: number; value: Promise<Held[]> } | undefined;

  constructor(private readonly db: Database) {
    const draw = (figure: 'n' | 'oldest_s') => async (g: Gauge<'reason'>) => {
      for (const row of await this.ask()) g.set({ reason: row.reason }, row[figure]);
    };
    gauge('inbox_held_messages', 'Messages that are held, by reason', ['reason'], draw('n'));
    gauge('inbox_oldest_held_seconds', 'Age of the message that has been held longest, by reason', ['reason'], draw('oldest_s'));
  }

  private ask(): Promise<Held[]> {
    if (!this.held || performance.now() - this.held.asked > FRESH_MS)
      this.held = { asked: performance.now(), value: this.db.query(HELD, [COUNTED_TO]) };
    return this.held.value;
  }
}
