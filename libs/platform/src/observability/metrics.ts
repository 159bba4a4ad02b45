import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The process's metrics, served on `/metrics` of the internal port. */
export const metrics = new Registry();

let started = false;
/** Node's own figures (event loop lag, heap, GC). Called once at boot. */
export function collectProcessMetrics(): void {
  if (started) return;
  started = true;
  collectDefaultMetrics({ register: metrics });
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** A histogram of what is counted in pieces. */
export function sizeHistogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
  return new Histogram({ name, help, labelNames, buckets, registers: [metrics] });
}

/** A histogram of durations in seconds. */
export function durationHistogram<L extends string>(name: string, help: string, labelNames: L[] = [], buckets = SECONDS): Histogram<L> {
  return sizeHistogram(name, help, labelNames, buckets);
}

/**
 * A counter. What an alert asks for the increase of must be there before the first event: to Prometheus a series that begins with 1 has
 * not grown. Where its labels are known only later, whoever learns them says `inc(labels, 0)`.
 *
 * @param series labels of those that are told from the start
 */
export function counter<L extends string>(name: string, help: string, labelNames: L[] = [], series: Record<L, string>[] = []): Counter<L> {
  const made = new Counter({ name, help, labelNames, registers: [metrics] });
  for (const labels of series) made.inc(labels, 0);
  return made;
}

/** So long figures are waited for that are asked for elsewhere. Prometheus waits for ten seconds, `docker/drain.js` for nine. */
const FIGURES_MS = 8_000;

/**
 * A gauge; with `collect` it is computed when it is scraped. Of two applications in one process, as specs have them, the last one is asked.
 *
 * @param collect one that fails, or takes longer than {@link FIGURES_MS}, leaves the gauge without a figure, since an old one would say that all is as
 * it was; everything else is told all the same. It is not called again before it has come to an end
 */
export function gauge<L extends string>(
  name: string,
  help: string,
  labelNames: L[] = [],
  collect?: (g: Gauge<L>) => void | Promise<void>,
): Gauge<L> {
  metrics.removeSingleMetric(name);
  let drawing: Promise<void> | undefined;
  const draw = async (g: Gauge<L>) => {
    // Without labels, to reset is to say 0.
    if (labelNames.length) g.reset();
    else g.remove();
    drawing ??= (async () => collect?.(g))()
      .catch(() => undefined)
      .finally(() => (drawing = undefined));
    const drawn = new AbortController();
    const late = sleep(FIGURES_MS, undefined, { signal: drawn.signal }).catch(() => undefined);
    await Promise.race([drawing, late]);
    drawn.abort();
  };
  return new Gauge({
    name,
    help,
    labelNames,
    registers: [metrics],
    ...(collect && {
      collect(this: Gauge<L>) {
        return draw(this);
      },
    }),
  });
}
