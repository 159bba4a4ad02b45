import type { Step } from '../definition/definition.types';
import type { JournalRow } from './journal';

/** What expressions see where a step stands. */
interface Seen {
  steps: Record<string, { status: string; output: unknown; error: unknown }>;
  vars: Record<string, unknown>;
  /** In what is done about it. */
  error?: { code: string; message: string; step_id: string };
}

/** What is known where a step stands: what has ended before it, and what it may call by name. */
export class Frame {
  constructor(readonly seen: Seen = { steps: {}, vars: {} }) {}

  /** For steps whose outcomes are seen among themselves alone. */
  copy(error = this.seen.error): Frame {
    return new Frame({ steps: { ...this.seen.steps }, vars: { ...this.seen.vars }, ...(error && { error }) });
  }

  set(name: string, value: unknown): this {
    this.seen.vars[name] = value;
    return this;
  }

  /** A step has ended. */
  see(step: Step, row: JournalRow | undefined, output: unknown): void {
    this.seen.steps[step.id] = { status: row?.status ?? 'completed', output, error: row?.error ?? null };
    if (step.kind === 'transform' && output) Object.assign(this.seen.vars, output);
  }
}
