import { Injectable } from '@nestjs/common';
import type { Tx } from './database';

/** Something that people refer to by its id or its slug, and that is not there any more. */
export interface Deleted {
  /** As audit rows name its kind. */
  kind: string;
  orgId: string;
  id: string;
  slug: string;
}

/** Where domains hear in its transaction that something below them is deleted, to which their things may refer. They listen when they start. */
@Injectable()
export class Deletions {
  private readonly listeners: ((tx: Tx, gone: Deleted) => Promise<void>)[] = [];

  listen(listener: (tx: Tx, gone: Deleted) => Promise<void>): void {
    this.listeners.push(listener);
  }

  async tell(tx: Tx, gone: Deleted): Promise<void> {
    for (const listener of this.listeners) await listener(tx, gone);
  }
}
