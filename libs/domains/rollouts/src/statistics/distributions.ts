/**
 * Tails of the distributions that the tests need: the regularized incomplete gamma and beta functions by the series and continued
 * fractions of Abramowitz & Stegun (6.5.29, 6.5.31, 26.5.8). Exact to nine digits up to a million degrees of freedom.
 */

/** What a term may change of a sum that is done. */
const NEGLIGIBLE = 1e-15;
const MOST_TERMS = 100_000;
/** Stands in for a zero denominator. */
const TINY = 1e-300;

/** Lanczos' approximation of ln Γ(x) for x > 0, with g = 7 and the nine coefficients of Godfrey. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];
function lnGamma(x: number): number {
  const base = x + 6.5;
  const series = LANCZOS.reduce((sum, coefficient, i) => (i === 0 ? coefficient : sum + coefficient / (x - 1 + i)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(series);
}

/** b(0) + a(1) / (b(1) + a(2) / (b(2) + …)), by Lentz' method as modified by Thompson and Barnett. */
function continuedFraction(a: (i: number) => number, b: (i: number) => number): number {
  const away = (x: number) => (Math.abs(x) < TINY ? TINY : x);
  let value = away(b(0));
  let [c, d] = [value, 0];
  for (let i = 1, factor = 0; i < MOST_TERMS && Math.abs(factor - 1) > NEGLIGIBLE; i++) {
    d = 1 / away(b(i) + a(i) * d);
    c = away(b(i) + a(i) / c);
    factor = c * d;
    value *= factor;
  }
  return value;
}

/** Probability that a chi-square variable of so many degrees of freedom exceeds `x`. */
export function chiSquareTail(x: number, degrees: number): number {
  const [a, h] = [degrees / 2, x / 2];
  const front = Math.exp(a * Math.log(h) - h - lnGamma(a));
  if (h >= a + 1)
    return (
      front /
      continuedFraction(
        (i) => -i * (i - a),
        (i) => h + 2 * i + 1 - a,
      )
    );
  let [term, sum] = [1 / a, 1 / a];
  for (let i = 1; i < MOST_TERMS && term > sum * NEGLIGIBLE; i++) sum += term *= h / (a + i);
  return 1 - front * sum;
}

/** Probability that a standard normal variable is further from zero than `z`: its square is chi-square with one degree. */
export const normalTails = (z: number): number => chiSquareTail(z * z, 1);

/** The continued fraction of the incomplete beta function I(x; a, b), without its front factor and its 1 / a. */
const betaFraction = (x: number, a: number, b: number): number =>
  1 /
  continuedFraction(
    (i) => {
      const m = i >> 1;
      const numerator = i % 2 ? -(a + m) * (a + b + m) : m * (b - m);
      return (numerator * x) / ((a + i - 1) * (a + i));
    },
    () => 1,
  );

/** Probability that a Student variable of so many degrees of freedom is further from zero than `t`: I(degrees / (degrees + t²)). */
export function studentTails(t: number, degrees: number): number {
  const square = t * t;
  const [a, b] = [degrees / 2, 0.5];
  const x = degrees / (degrees + square);
  const logFront = lnGamma(a + b) - lnGamma(a) - lnGamma(b) - a * Math.log1p(square / degrees) + b * Math.log(square / (degrees + square));
  const front = Math.exp(logFront);
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** What a Student variable exceeds in size with probability `level`. The tails are convex, so Newton's steps from zero never pass it. */
export function studentBound(level: number, degrees: number): number {
  const a = degrees / 2;
  const height = Math.exp(lnGamma(a + 0.5) - lnGamma(a)) / Math.sqrt(degrees * Math.PI);
  let t = 0;
  for (let i = 0, step = 1; i < 100 && step > 1e-13 * t; i++) {
    const density = height * Math.exp(-(a + 0.5) * Math.log1p((t * t) / degrees));
    t += step = (studentTails(t, degrees) - level) / (2 * density);
  }
  return t;
}
