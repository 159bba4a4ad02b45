import { chiSquareTail } from './distributions';

/** Step-down adjustment of Holm (1979): who claims all that are below 5 % is wrong in any of them in at most 5 % of cases. Nulls do not count. */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const known = pValues.flatMap((p, place) => (p === null ? [] : [{ p, place }])).sort((a, b) => a.p - b.p);
  const adjusted = pValues.map((): number | null => null);
  let largest = 0;
  known.forEach(({ p, place }, i) => {
    largest = Math.max(largest, Math.min(1, (known.length - i) * p));
    adjusted[place] = largest;
  });
  return adjusted;
}

/** Whether arms get what their weights say. */
export interface SampleRatio {
  p_value: number | null;
  /** The assignment is broken, and with it whatever is compared. */
  warning: boolean;
}

/** Of the units that an arm expects, below which chi-square does not hold. */
const LEAST_EXPECTED = 5;
/** Of the p-value; a mismatch is looked for in many experiments many times, so it takes strong evidence. */
const MISMATCH = 0.001;

/**
 * Pearson's chi-square test of goodness of fit.
 *
 * @param counts units that were assigned, per arm
 * @param weights of the arms, in basis points
 */
export function sampleRatio(counts: readonly number[], weights: readonly number[]): SampleRatio {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, x) => total + x, 0);
  const expected = weights.map((weight) => (sum(counts) * weight) / sum(weights));
  if (expected.length < 2 || expected.some((x) => x < LEAST_EXPECTED)) return { p_value: null, warning: false };
  const statistic = sum(counts.map((count, i) => (count - expected[i]) ** 2 / expected[i]));
  const p_value = chiSquareTail(statistic, expected.length - 1);
  return { p_value, warning: p_value < MISMATCH };
}
