import { normalTails, studentBound, studentTails } from './distributions';
import { deltaOf, type Summary } from './sample';

/** Of intervals that hold once: 5 % of them miss. */
const LEVEL = 0.05;
/** What a standard normal variable exceeds in size with that probability. */
const Z = 1.959964;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A mean, or a share, and its 95 % interval; null where there is none. */
export interface Estimate {
  mean: number | null;
  ci: Interval | null;
}

/** Arm less control. */
export interface Difference {
  delta: number | null;
  ci: Interval | null;
  /** Two-sided, of the hypothesis that there is no difference. */
  p_value: number | null;
}

const around = (middle: number, margin: number): Interval => ({ low: middle - margin, high: middle + margin });

/** So many independent values would tell as much of a share as the sample does. */
const effectiveSize = ({ n, designEffect }: Summary): number | null => (n > 1 && designEffect ? n / designEffect : null);

/** The score interval of Wilson (1927), without continuity correction; of a clustered sample that of its effective size. */
export function shareOf(sample: Summary): Estimate {
  const { mean } = sample;
  const n = effectiveSize(sample);
  if (mean === null || n === null) return { mean, ci: null };
  const squared = Z ** 2 / n;
  const margin = (Z / (1 + squared)) * Math.sqrt((mean * (1 - mean) + squared / 4) / n);
  const { low, high } = around((mean + squared / 2) / (1 + squared), margin);
  // At 0 and 1 a bound is the share itself, but for what rounding adds.
  return { mean, ci: { low: Math.min(mean, Math.max(0, low)), high: Math.max(mean, Math.min(1, high)) } };
}

/** Method 10 of Newcombe (1998), "Interval estimation for the difference between independent proportions"; the p-value is the pooled z-test's. */
export function differenceOfShares(arm: Summary, control: Summary): Difference {
  const delta = deltaOf(arm, control);
  const [a, c] = [shareOf(arm), shareOf(control)];
  const [n, m] = [effectiveSize(arm), effectiveSize(control)];
  if (delta === null || !a.ci || !c.ci || !n || !m) return { delta, ci: null, p_value: null };
  const [p, q] = [arm.mean!, control.mean!];
  const pooled = (p * n + q * m) / (n + m);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
  return {
    delta,
    ci: { low: delta - Math.hypot(p - a.ci.low, c.ci.high - q), high: delta + Math.hypot(a.ci.high - p, q - c.ci.low) },
    p_value: delta === 0 ? 1 : normalTails(delta / error),
  };
}

/** Student's t interval, with as many degrees of freedom as there are groups, less one. */
export function meanOf({ mean, variance, groups }: Summary): Estimate {
  if (mean === null || variance === null) return { mean, ci: null };
  return { mean, ci: around(mean, studentBound(LEVEL, groups - 1) * Math.sqrt(variance)) };
}

/** Welch's t interval and test (1947), with the degrees of freedom of Welch and Satterthwaite. */
export function differenceOfMeans(arm: Summary, control: Summary): Difference {
  const delta = deltaOf(arm, control);
  if (delta === null || arm.variance === null || control.variance === null) return { delta, ci: null, p_value: null };
  const variance = arm.variance + control.variance;
  if (variance === 0) return { delta, ci: around(delta, 0), p_value: delta === 0 ? 1 : 0 };
  const degrees = variance ** 2 / (arm.variance ** 2 / (arm.groups - 1) + control.variance ** 2 / (control.groups - 1));
  const error = Math.sqrt(variance);
  return { delta, ci: around(delta, studentBound(LEVEL, degrees) * error), p_value: studentTails(delta / error, degrees) };
}

/** Whether two intervals lie apart. Those that touch do not, nor does what has none. */
export const significant = (arm: Interval | null, control: Interval | null): boolean =>
  arm !== null && control !== null && (arm.low > control.high || control.low > arm.high);
