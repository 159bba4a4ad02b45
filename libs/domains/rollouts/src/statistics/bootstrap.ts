import { differenceOfMeans, meanOf, type Difference, type Estimate, type Interval } from './estimates';
import { Random } from './random';
import { groupsOf, summaryOf, type Groups, type Sample } from './sample';

const RESAMPLES = 2_000;
/** Values in an arm, beyond which Student's intervals are as good, and resampling takes long. */
const MOST_VALUES = 2_000;
/** Resamples from one yield to the next: of two arms with 2,000 values each, some four milliseconds. */
const SLICE = 100;
/** Of the resamples, on either side of the interval. */
const OUTSIDE = 0.025;

/**
 * The groups of a sample in an order that does not depend on that of its values, which may be a database's. So the same values and the same
 * seed give the same interval.
 */
function sortedGroups({ values, clusters }: Sample): Groups {
  const order = Array.from(values, (_, i) => i).sort((i, j) => values[i] - values[j]);
  // Sums of a cluster are made from its least value upward: rounding, too, is the same.
  const { origin, totals, sizes } = groupsOf({ values: order.map((i) => values[i]), clusters: clusters && order.map((i) => clusters[i]) });
  const places = Array.from(totals, (_, g) => g).sort((g, h) => totals[g] - totals[h] || sizes[g] - sizes[h]);
  return { origin, totals: Float64Array.from(places, (g) => totals[g]), sizes: Float64Array.from(places, (g) => sizes[g]) };
}

/** The mean, less `origin`, of as many groups as there are, drawn with replacement. */
function resampledMean({ totals, sizes }: Groups, random: Random): number {
  const count = totals.length;
  let [total, size] = [0, 0];
  for (let i = 0; i < count; i++) {
    const group = random.below(count);
    total += totals[group];
    size += sizes[group];
  }
  return total / size;
}

/** The value below which a share of the sorted ones lies, between two of them in proportion (Hyndman & Fan 1996, definition 7). */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  return sorted[below] + (at - below) * (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]);
}

/** The percentile interval of Efron (1979). */
function* percentiles(resample: () => number): Generator<void, Interval, void> {
  const results = new Float64Array(RESAMPLES);
  for (let i = 0; i < RESAMPLES; i++) {
    if (i > 0 && i % SLICE === 0) yield;
    results[i] = resample();
  }
  results.sort();
  return { low: quantile(results, OUTSIDE), high: quantile(results, 1 - OUTSIDE) };
}

/** A mean of skewed values, such as costs: of up to 2,000 its interval is a bootstrap's, in which clusters are drawn whole. */
export function* bootstrapMean(sample: Sample, seed: string): Generator<void, Estimate, void> {
  const student = meanOf(summaryOf(sample));
  if (!student.ci || sample.values.length > MOST_VALUES) return student;
  const groups = sortedGroups(sample);
  const random = new Random(seed);
  return { ...student, ci: yield* percentiles(() => groups.origin + resampledMean(groups, random)) };
}

/** The difference of two such means: of up to 2,000 values on either side its interval is a bootstrap's. The p-value is Welch's. */
export function* bootstrapDifference(arm: Sample, control: Sample, seed: string): Generator<void, Difference, void> {
  const welch = differenceOfMeans(summaryOf(arm), summaryOf(control));
  if (!welch.ci || Math.max(arm.values.length, control.values.length) > MOST_VALUES) return welch;
  const [a, c] = [sortedGroups(arm), sortedGroups(control)];
  const random = new Random(seed);
  const resample = () => a.origin - c.origin + (resampledMean(a, random) - resampledMean(c, random));
  return { ...welch, ci: yield* percentiles(resample) };
}
