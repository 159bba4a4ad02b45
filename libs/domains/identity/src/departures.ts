import { Injectable, Module } from '@nestjs/common';
import type { Author } from '@aps/platform/audit';
import type { Tx } from '@aps/platform/database';

/** Somebody who is not at work any more. */
export interface Departure {
  userId: string;
  /** Where; null: everywhere, as they are locked out of the platform. */
  orgId: string | null;
  /** Who has seen to it. */
  author: Author;
}

/** Where domains hear in its transaction that somebody has left, of whom they may have things. They listen when they start. */
@Injectable()
export class Departures {
  private readonly listeners: ((tx: Tx, departure: Departure) => Promise<void>)[] = [];

  listen(listener: (tx: Tx, departure: Departure) => Promise<void>): void {
    this.listeners.push(listener);
  }

  async tell(tx: Tx, departure: Departure): Promise<void> {
    for (const listener of this.listeners) await listener(tx, departure);
  }
}

@Module({ providers: [Departures], exports: [Departures] })
export class DeparturesModule {}
