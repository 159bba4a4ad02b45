import { differenceOfMeans, differenceOfShares, meanOf, shareOf, significant } from './estimates';
import { summaryOf, type Sample } from './sample';

const of = (sample: Sample) => summaryOf(sample);
const hits = (count: number, n: number) => of({ values: Array.from({ length: n }, (_, i) => (i < count ? 1 : 0)) });
const expectInterval = (actual: { low: number; high: number } | null, [low, high]: readonly number[], digits: number) => {
  expect(actual!.low).toBeCloseTo(low, digits);
  expect(actual!.high).toBeCloseTo(high, digits);
};

// R's data set `sleep` (Cushny & Peebles 1905), and what its t.test says of it.
const SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
const SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
// Clusters whose variances, design effects and tests were computed apart, by NumPy and SciPy.
const ARM = { values: [1, 1, 0, 1, 0, 0, 0, 1, 1, 1], clusters: [1, 1, 1, 2, 2, 3, 3, 4, 4, 4] };
const CONTROL = { values: [0, 1, 0, 0, 0, 1, 1, 0], clusters: [1, 1, 2, 2, 3, 3, 3, 4] };

describe('shareOf', () => {
  // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('gives %d of %d the interval of Wilson', (count, n, low, high) => {
    const share = shareOf(hits(count, n));
    expect(share.mean).toBeCloseTo(count / n, 14);
    expectInterval(share.ci, [low, high], 4);
  });

  it('ends at none and at all, exactly', () => {
    for (const n of [2, 7, 20, 29, 1000]) expect([shareOf(hits(0, n)).ci!.low, shareOf(hits(n, n)).ci!.high]).toEqual([0, 1]);
  });

  it('takes clusters for their effective number of values', () => {
    // Wilson's interval of 6 / 1.48 of 10 / 1.48.
    expectInterval(shareOf(of(ARM)).ci, [0.26659237689906046, 0.8609150637402243], 12);
    expectInterval(shareOf(of(CONTROL)).ci, [0.13684428473912288, 0.6942576073462291], 12);
  });

  it('has no interval of no values, of one, and of one cluster', () => {
    expect(shareOf(of({ values: [] }))).toEqual({ mean: null, ci: null });
    expect(shareOf(of({ values: [1] }))).toEqual({ mean: 1, ci: null });
    expect(shareOf(of({ values: [1, 0], clusters: [1, 1] }))).toEqual({ mean: 0.5, ci: null });
  });
});

describe('differenceOfShares', () => {
  // Newcombe (1998), "Interval estimation for the difference between independent proportions", table II, method 10.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('gives %d/%d − %d/%d the interval of Newcombe', (a, n, c, m, low, high) => {
    expectInterval(differenceOfShares(hits(a, n), hits(c, m)).ci, [low, high], 4);
    expectInterval(differenceOfShares(hits(c, m), hits(a, n)).ci, [-high, -low], 4);
  });

  it('tests by the pooled z-test', () => {
    // SciPy 1.17, stats.chi2_contingency of the four counts, without correction.
    expect(differenceOfShares(hits(56, 70), hits(48, 80)).p_value).toBeCloseTo(0.008045081368196585, 12);
    expect(differenceOfShares(hits(3, 10), hits(9, 10)).p_value).toBeCloseTo(0.0061698993205441645, 12);
  });

  it('finds no evidence in shares that are equal, degenerate or not', () => {
    for (const [a, n, c, m] of [
      [0, 10, 0, 20],
      [10, 10, 20, 20],
      [1, 3, 7, 21],
    ])
      expect(differenceOfShares(hits(a, n), hits(c, m))).toMatchObject({ delta: 0, p_value: 1 });
  });

  it('takes clusters for their effective number of values', () => {
    const difference = differenceOfShares(of(ARM), of(CONTROL));
    expectInterval(difference.ci, [-0.2366124597432972, 0.5782630962865853], 12);
    expect(difference.p_value).toBeCloseTo(0.388639581755749, 12);
  });

  it('has the delta alone where a side has one cluster, and nothing where it has no values', () => {
    const single = of({ values: [1, 0], clusters: [1, 1] });
    expect(differenceOfShares(of(ARM), single)).toEqual({ delta: 0.6 - 0.5, ci: null, p_value: null });
    expect(differenceOfShares(hits(0, 0), of(ARM))).toEqual({ delta: null, ci: null, p_value: null });
  });
});

describe('meanOf', () => {
  it('has Student’s t interval', () => {
    const mean = meanOf(of({ values: [...SLEEP_1, ...SLEEP_2] }));
    expect(mean.mean).toBeCloseTo(1.54, 14);
    expectInterval(mean.ci, [0.5955845, 2.4844155], 7);
  });

  it('has G − 1 degrees of freedom where there are clusters', () => {
    expectInterval(meanOf(of(ARM)).ci, [-0.03223176002265937, 1.2322317600226593], 10);
  });

  it('has no interval of one value or one cluster, and no mean of none', () => {
    expect(meanOf(of({ values: [7] }))).toEqual({ mean: 7, ci: null });
    expect(meanOf(of({ values: [7, 9], clusters: [1, 1] }))).toEqual({ mean: 8, ci: null });
    expect(meanOf(of({ values: [] }))).toEqual({ mean: null, ci: null });
  });

  it('has an interval without width where nothing varies', () => {
    expect(meanOf(of({ values: [0.1, 0.1, 0.1] }))).toEqual({ mean: 0.1, ci: { low: 0.1, high: 0.1 } });
  });
});

describe('differenceOfMeans', () => {
  it('is Welch’s', () => {
    // R: t.test(extra ~ group, data = sleep), t = -1.8608, df = 17.776, p-value = 0.07939.
    const difference = differenceOfMeans(of({ values: SLEEP_1 }), of({ values: SLEEP_2 }));
    expect(difference.delta).toBeCloseTo(-1.58, 12);
    expectInterval(difference.ci, [-3.3654832, 0.2054832], 7);
    expect(difference.p_value).toBeCloseTo(0.0793941401873583, 10);
  });

  it('is Welch’s of unlike variances', () => {
    // Wikipedia, "Welch's t-test", first example: t = -2.46, df = 25.0, p = 0.021; the interval by SciPy 1.17.
    const a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
    const b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
    const difference = differenceOfMeans(of({ values: a }), of({ values: b }));
    expect(difference.p_value).toBeCloseTo(0.021378001462866992, 10);
    expectInterval(difference.ci, [-3.984096267140929, -0.3492370661924069], 10);
  });

  it('counts clusters where there are some', () => {
    // Standard error √(0.0394667 + 0.0319010), 5.933 degrees of freedom.
    const difference = differenceOfMeans(of(ARM), of(CONTROL));
    expect(difference.p_value).toBeCloseTo(0.4322896641771322, 10);
    expectInterval(difference.ci, [-0.4304708684167531, 0.880470868416753], 10);
  });

  it('has the delta alone where a side has one value', () => {
    expect(differenceOfMeans(of({ values: [7] }), of({ values: [1, 2] }))).toEqual({ delta: 5.5, ci: null, p_value: null });
    expect(differenceOfMeans(of({ values: [1, 2] }), of({ values: [] }))).toEqual({ delta: null, ci: null, p_value: null });
  });

  it('is certain where nothing varies', () => {
    const [a, b, c] = [[0.1, 0.1, 0.1], Array.from({ length: 10 }, () => 0.1), [0.5, 0.5]].map((values) => of({ values }));
    expect(differenceOfMeans(a, b)).toEqual({ delta: 0, ci: { low: 0, high: 0 }, p_value: 1 });
    expect(differenceOfMeans(c, b)).toEqual({ delta: 0.4, ci: { low: 0.4, high: 0.4 }, p_value: 0 });
    // Nor where all that varies, varies within clusters.
    const [d, e] = [
      { values: [0.1, 0.3, 0.3, 0.1], clusters: [1, 1, 2, 2] },
      { values: [0.15, 0.25, 0.2, 0.1, 0.3, 0.2], clusters: [1, 1, 1, 2, 2, 2] },
    ].map(of);
    expect(differenceOfMeans(d, e).p_value).toBe(1);
  });

  it('knows one side by the other’s degrees of freedom, where that alone varies', () => {
    const one = differenceOfMeans(of({ values: [1, 2, 3] }), of({ values: [0, 0, 0, 0] }));
    // Student's t of 2 / √(1/3) with two degrees.
    expect(one.p_value).toBeCloseTo(0.07417990022744855, 10);
  });
});

it('significant is what lies apart: not what touches, nor what has no interval', () => {
  const [low, middle, high] = [
    { low: 0, high: 1 },
    { low: 1, high: 2 },
    { low: 2.5, high: 3 },
  ];
  expect([significant(low, middle), significant(middle, low), significant(low, low)]).toEqual([false, false, false]);
  expect([significant(middle, high), significant(high, middle)]).toEqual([true, true]);
  expect([significant(null, high), significant(low, null), significant(null, null)]).toEqual([false, false, false]);
});
