/** A metric's values in one arm, one a chat. Where each is 0 or 1, their mean is a share. */
export interface Sample {
  readonly values: ArrayLike<number>;
  /** Parallel to `values`, where these are not independent: values of one key, such as the chats of one originator, may resemble each other. */
  readonly clusters?: ArrayLike<string | number>;
  /** Each value is 0 or 1, and those of a cluster are mostly equal: believed until clusters that hold the rarer value tell. */
  readonly alike?: boolean;
}

/** What of a sample decides its estimates. */
export interface Summary {
  readonly n: number;
  /** How many groups are independent of each other: clusters, or values where there are none. */
  readonly groups: number;
  /** How many groups of one size would tell as much: n² / Σ size² (Kish 1965). */
  readonly effectiveGroups: number;
  readonly mean: number | null;
  /** Of the mean; null with fewer than two groups. */
  readonly variance: number | null;
  /** How many clustered values tell as much as one that is independent; 1 without clusters, null where there is only one of them. */
  readonly designEffect: number | null;
}

/** What sums of doubles differ by without differing, relative to what is summed. */
const ROUNDING = 1e-12;

/** Totals of groups, less `origin` for each value: values that are equal then vary by nothing at all, and not by what rounding leaves. */
export interface Groups {
  readonly origin: number;
  readonly totals: Float64Array;
  readonly sizes: Float64Array;
}

export function groupsOf({ values, clusters }: Sample): Groups {
  const origin = values[0] ?? 0;
  const places = new Map<string | number, number>();
  if (clusters) for (let i = 0; i < values.length; i++) if (!places.has(clusters[i])) places.set(clusters[i], places.size);
  const count = clusters ? places.size : values.length;
  const [totals, sizes] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < values.length; i++) {
    const group = clusters ? places.get(clusters[i])! : i;
    totals[group] += values[i] - origin;
    sizes[group]++;
  }
  return { origin, totals, sizes };
}

/**
 * The variance of the mean is cluster-robust (Liang & Zeger 1986): what the values of each cluster together are off the mean, squared,
 * summed, times G / (G − 1), over n². Where each value is a cluster it is s² / n. The design effect (Kish 1965) is how many times that it is,
 * and 1 where nothing varies: so it is of the first hit among misses, too. Where values of a cluster are mostly equal that may be the first of a
 * whole cluster: the effect begins with what it is where all of them are, and each cluster that holds the rarer value counts as much as this belief.
 */
export function summaryOf(sample: Sample): Summary {
  const { values, clusters, alike } = sample;
  const n = values.length;
  const { origin, totals, sizes } = groupsOf(sample);
  const groups = totals.length;
  const shift = totals.reduce((sum, total) => sum + total, 0) / n;
  let [largest, ofValues, ofGroups, ofSizes, zeros, ones] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    largest = Math.max(largest, Math.abs(values[i]));
    ofValues += (values[i] - origin - shift) ** 2;
  }
  for (let g = 0; g < groups; g++) {
    ofGroups += (totals[g] - sizes[g] * shift) ** 2;
    ofSizes += sizes[g] ** 2;
    const sum = totals[g] + sizes[g] * origin;
    zeros += Number(sum < sizes[g]);
    ones += Number(sum > 0);
  }
  const varianceOf = (squares: number, count: number): number => {
    const variance = (squares * count) / (count - 1) / n ** 2;
    return variance <= (ROUNDING * largest) ** 2 ? 0 : variance;
  };
  const variance = groups > 1 ? varianceOf(ofGroups, groups) : null;
  const effectiveGroups = n && n ** 2 / ofSizes;
  const seen = !clusters || variance === 0 ? 1 : variance && Math.max(1, variance / varianceOf(ofValues, n));
  const telling = Math.min(zeros, ones);
  const designEffect = seen && alike ? (n / effectiveGroups + telling * seen) / (1 + telling) : seen;
  return { n, groups, effectiveGroups, mean: n ? origin + shift : null, variance, designEffect };
}

/** Arm less control. What differs by rounding alone does not differ. */
export function deltaOf(arm: Summary, control: Summary): number | null {
  if (arm.mean === null || control.mean === null) return null;
  const delta = arm.mean - control.mean;
  return Math.abs(delta) <= ROUNDING * Math.max(Math.abs(arm.mean), Math.abs(control.mean)) ? 0 : delta;
}
