import type { LoopStep } from '../definition/definition.types';
import type { Frame } from './frame';
import type { JournalRow } from './journal';

/** How far a loop is: kept between looks at the journal, so that what is over is not gone through again and again. */
export interface LoopProgress {
  /** Null of one that goes on while something holds. */
  items: unknown[] | null;
  /** What its iterations begin with. Of one that goes on while something holds: what the last one has left. */
  frame: Frame;
  /** The iteration that is to be begun, or that is at work where they go one after another. */
  next: number;
  /** It was found that this one is to be. */
  mayIterate: boolean;
  /** Those that are at work, with what they began with. */
  open: Map<number, Frame>;
  outputs: unknown[];
}

export const loopOf = (step: LoopStep, row: JournalRow, frame: Frame): LoopProgress => ({
  items: step.over === null ? null : (row.input as { items: unknown[] }).items,
  frame: frame.copy(),
  next: 0,
  mayIterate: false,
  open: new Map(),
  outputs: [],
});
