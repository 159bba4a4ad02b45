import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { JOBS } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { counter, gauge } from '@aps/platform/observability';
import { DEAD_LETTERS } from './maintenance.sql';

/** Something that is done again and again and that nobody waits for. */
export interface MaintenanceTask {
  name: string;
  everyS: number;
  /** Safe to do twice: every replica may run it. @returns how many rows it touched; the task runs again at once while that is `batch` */
  run: () => Promise<number>;
  batch: number;
}

const touched = counter('maintenance_rows_total', 'Rows that maintenance has removed or renewed', ['task']);
const failures = counter('maintenance_failures_total', 'Maintenance tasks that failed', ['task']);
const failing = gauge('maintenance_failing', 'How often a maintenance task has failed since it was last done', ['task']);

/** Longest stretch of one task before the others get their turn. */
const MAX_BATCHES = 20;

/**
 * Runs the tasks that domains and platform register, in processes that import {@link MaintenanceModule}.
 */
@Injectable()
export class Maintenance implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Maintenance');
  private readonly tasks: MaintenanceTask[] = [];
  private readonly running = new Set<MaintenanceTask>();
  private timers: NodeJS.Timeout[] = [];
  private stopped = false;

  constructor(private readonly db: Database) {
    gauge('dead_letters', 'Jobs that were given up and that an operator should look at', ['job'], async (g) => {
      const rows = await this.db.query(DEAD_LETTERS);
      for (const job of Object.keys(JOBS)) g.set({ job }, rows.find((row) => row.job === job)?.n ?? 0);
    });
  }

  register(task: MaintenanceTask): void {
    this.tasks.push(task);
    failures.inc({ task: task.name }, 0);
    failing.set({ task: task.name }, 0);
  }

  onApplicationBootstrap(): void {
    for (const task of this.tasks) {
      // Not all replicas and tasks at the same moment.
      const everyMs = task.everyS * 1_000 * (0.9 + Math.random() / 5);
      this.timers.push(setInterval(() => void this.runTask(task), everyMs).unref());
    }
  }

  beforeApplicationShutdown(): void {
    this.stopped = true;
    this.timers.forEach(clearInterval);
  }

  /** Runs every task once; for tests and operators. */
  async runAll(): Promise<void> {
    for (const task of this.tasks) await this.runTask(task);
  }

  private async runTask(task: MaintenanceTask): Promise<void> {
    // One that takes longer than its interval is not joined by itself.
    if (this.running.has(task)) return;
    this.running.add(task);
    try {
      for (let i = 0; i < MAX_BATCHES && !this.stopped; i++) {
        const n = await task.run();
        touched.inc({ task: task.name }, n);
        if (n < task.batch) break;
      }
      failing.set({ task: task.name }, 0);
    } catch (error) {
      failures.inc({ task: task.name });
      failing.inc({ task: task.name });
      this.logger.warn(`${task.name} failed: ${(error as Error).message}`);
    } finally {
      this.running.delete(task);
    }
  }
}
