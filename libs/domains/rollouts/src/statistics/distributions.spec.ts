import { chiSquareTail, normalTails, studentBound, studentTails } from './distributions';

/** Relative, as tails are small. */
const expectAbout = (actual: number, expected: number, digits = 10) => expect(actual / expected).toBeCloseTo(1, digits);

describe('tails of distributions', () => {
  // Table of Student's t at 0.975, as in Pearson & Hartley, Biometrika Tables for Statisticians; more digits by SciPy 1.17, stats.t.ppf.
  it.each([
    [1, 12.706204736174694],
    [2, 4.302652729749462],
    [5, 2.5705818356363146],
    [10, 2.228138851986274],
    [17.776, 2.102821310380221],
    [30, 2.0422724563012378],
    [1000, 1.9623390808264083],
    [1_000_000, 1.959966356814107],
  ])('bounds Student’s t of %d degrees', (degrees, bound) => expectAbout(studentBound(0.05, degrees), bound, 9));

  // SciPy 1.17, 2 * stats.t.sf.
  it.each([
    [1, 1, 0.5],
    [0.5, 3, 0.651447964848151],
    [2, 2, 0.18350341907227397],
    [-2.5, 7.5, 0.03882025827362553],
    [10, 4, 0.000562003622715991],
    [40, 200, 2.2487396535202197e-97],
    [1e-6, 5, 0.9999992407866204],
    [1e-3, 1_000_000, 0.9992021157716492],
    [3.5, 100_000, 0.00046546053937110036],
    [1.96, 1_000_000, 0.04999606758526985],
  ])('knows how rare t = %d is with %d degrees', (t, degrees, p) => expectAbout(studentTails(t, degrees), p, 9));

  // Critical values of the table of chi-square at 5 % and 0.1 %, and smaller and larger ones; p by SciPy 1.17, stats.chi2.sf.
  it.each([
    [3.841459, 1, 0.04999999465319563],
    [5.991465, 2, 0.04999998867770084],
    [7.814728, 3, 0.049999997831966146],
    [11.070498, 5, 0.04999999407731299],
    [18.307038, 10, 0.050000000824732216],
    [124.342113, 100, 0.0500000025499299],
    [10.827566, 1, 0.0010000000921737474],
    [0.1, 4, 0.9987908957257497],
    [200, 3, 4.218541107192018e-43],
  ])('knows how rare chi-square %d is with %d degrees', (x, degrees, p) => expectAbout(chiSquareTail(x, degrees), p));

  // SciPy 1.17, 2 * stats.norm.sf.
  it.each([
    [0.5, 0.6170750774519738],
    [-1.959964, 0.049999998192884795],
    [3, 0.0026997960632601866],
    [6, 1.973175290075389e-9],
    [12, 3.552964224155306e-33],
  ])('knows how rare a standard normal %d is', (z, p) => expectAbout(normalTails(z), p));

  it('is certain of what is no distance at all', () =>
    expect([studentTails(0, 3), chiSquareTail(0, 3), normalTails(0)]).toEqual([1, 1, 1]));
});
