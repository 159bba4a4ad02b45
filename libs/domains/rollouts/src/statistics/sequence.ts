import type { Interval } from './estimates';
import { deltaOf, type Summary } from './sample';

/** Of experiments without a difference, at most so many ever claim one, however often they are looked at. */
const LEVEL = 0.05;
/** Values, and of clusters as many as are worth so many of one size, that it takes to know a variance. */
const LEAST_VALUES = 10;
const ENOUGH_GROUPS = 30;

/** Bounds of a difference that may be looked at after every chat. */
export interface Sequence {
  ci: Interval | null;
  /** Whether zero is outside of them. */
  always_valid: boolean;
}

/**
 * ρ²t where Robbins' boundary is tightest for its ρ: the x with x = ln(1 + x) − ln LEVEL², which the paper gives by the lower branch of
 * Lambert's function. Each round takes the error down to a ninth.
 */
const TIGHTEST = Array.from({ length: 40 }).reduce<number>((x) => Math.log1p(x) - 2 * Math.log(LEVEL), 1);

/**
 * The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
 * confidence sequences", theorem 2.2: Robbins' normal mixture, whose margin at time t is standard error · √((1 + 1/x) ln((1 + x) / LEVEL²))
 * with x = ρ²t.
 *
 * Time. A difference of means is their estimator for randomized experiments with a constant for the model of each arm, and its time is
 * the chats of both. While the weights stand, any fixed multiple of that is as valid, since ρ is free. The harmonic mean of the arms' sizes is
 * one: that many chats in each of two equal arms would tell as much. In this time "tightest at `minSample` per arm" holds for any weights.
 *
 * Variance. s₁²/n₁ + s₀²/n₀, but at least what it is where both arms vary alike. In equal arms the two are one. In unequal ones a small arm
 * that has not seen its rare values yet knows nothing of their variance: of experiments at 90 : 10 in a share of 1 % without a difference,
 * 30 % would claim one, after 100 chats in each arm.
 *
 * Beginning. The theory is of late looks: after two chats in each arm 16 % of experiments without a difference would claim one. So there
 * are no bounds before `minSample` values, and never before ten, in each arm; nor before its clusters are worth 30 of one size, or `minSample`
 * if that is fewer. With ten originators in each arm up to 12 % would claim one, and 20 % where one of the ten begins most of the chats.
 */
export function confidenceSequence(arm: Summary, control: Summary, minSample: number): Sequence {
  const delta = deltaOf(arm, control);
  const least = Math.max(minSample, LEAST_VALUES);
  const early = [arm, control].some(({ n, effectiveGroups }) => n < least || effectiveGroups < Math.min(least, ENOUGH_GROUPS));
  if (early || delta === null || arm.variance === null || control.variance === null) return { ci: null, always_valid: false };
  const [n, m] = [arm.n, control.n];
  const alike = ((n - 1) * n * arm.variance + (m - 1) * m * control.variance) / (n + m - 2);
  const variance = Math.max(arm.variance + control.variance, alike * (1 / n + 1 / m));
  const x = (TIGHTEST * 2) / (1 / n + 1 / m) / least;
  const margin = Math.sqrt(variance * (1 + 1 / x) * Math.log((1 + x) / LEVEL ** 2));
  return { ci: { low: delta - margin, high: delta + margin }, always_valid: Math.abs(delta) > margin };
}
