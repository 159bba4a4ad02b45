import { deltaOf, groupsOf, summaryOf } from './sample';

describe('summaryOf', () => {
  it('knows mean and variance of the mean', () => {
    // s² = 32 / 7 of eight values.
    const { variance, ...rest } = summaryOf({ values: Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9) });
    expect(rest).toEqual({ n: 8, groups: 8, effectiveGroups: 8, mean: 5, designEffect: 1 });
    expect(variance).toBeCloseTo(32 / 7 / 8, 14);
  });

  it('knows nothing of nothing, and no variance of one', () => {
    expect(summaryOf({ values: [] })).toEqual({ n: 0, groups: 0, effectiveGroups: 0, mean: null, variance: null, designEffect: 1 });
    expect(summaryOf({ values: [3] })).toMatchObject({ n: 1, mean: 3, variance: null, designEffect: 1 });
    expect(summaryOf({ values: [], clusters: [] })).toMatchObject({ n: 0, groups: 0, mean: null, variance: null, designEffect: null });
  });

  it('counts clusters, and not their values, as independent', () => {
    // Worked by hand: off the mean of 0.6 the clusters are 0.2, −0.2, −1.2 and 1.2; 4/3 · 2.96 / 10² = 0.0394667, which is 1.48 · 0.24 / 9.
    const summary = summaryOf({ values: [1, 1, 0, 1, 0, 0, 0, 1, 1, 1], clusters: ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'd'] });
    expect(summary).toMatchObject({ n: 10, groups: 4, mean: 0.6 });
    expect(summary.variance).toBeCloseTo(0.0394666667, 10);
    expect(summary.designEffect).toBeCloseTo(1.48, 10);
    expect(summary.effectiveGroups).toBeCloseTo(100 / (9 + 4 + 4 + 9), 12);
  });

  it('finds the same where each value is a cluster as where there are none', () => {
    const values = [3.5, 1.25, 7, 0.1, 0.2];
    const alone = summaryOf({ values, clusters: [5, 4, 3, 2, 1] });
    expect(alone).toEqual(summaryOf({ values }));
  });

  it('finds the same wherever the values of a cluster stand', () => {
    const together = summaryOf({ values: [1, 2, 6, 8, 9], clusters: [1, 1, 2, 2, 3] });
    const apart = summaryOf({ values: [6, 1, 9, 2, 8], clusters: [2, 1, 3, 1, 2] });
    expect(apart.variance).toBeCloseTo(together.variance!, 12);
  });

  it('never takes clusters for more than their values are', () => {
    // Unlike within and alike between: clustered, nothing varies.
    const summary = summaryOf({ values: [0, 1, 1, 0, 0, 1], clusters: [1, 1, 2, 2, 3, 3] });
    expect(summary).toMatchObject({ variance: 0, designEffect: 1 });
    expect(summaryOf({ values: [0, 1, 0, 1, 0, 1, 1], clusters: [1, 1, 2, 2, 3, 3, 4] }).designEffect).toBe(1);
  });

  it('counts clusters where all values are equal, if those of a cluster mostly are', () => {
    const clusters = [1, 1, 2, 2, 3, 3];
    const none = [0, 0, 0, 0, 0, 0];
    expect(summaryOf({ values: none, clusters, alike: true })).toMatchObject({ variance: 0, designEffect: 2 });
    expect(summaryOf({ values: none, clusters })).toMatchObject({ variance: 0, designEffect: 1 });
  });

  it('is told by each cluster that holds the rarer value whether its values are equal', () => {
    const clusters = Array.from({ length: 100 }, (_, i) => Math.floor(i / 10));
    const effects = (disputed: (place: number, cluster: number) => boolean) =>
      [0, 1, 2, 8].map((among) => {
        const values = clusters.map((cluster, i) => Number(cluster < among && disputed(i % 10, cluster)));
        return [values, values.map((value) => 1 - value)].map((v) => summaryOf({ values: v, clusters, alike: true }).designEffect!);
      });
    // One value of each cluster: the effect comes down step by step.
    for (const [i, [ones, zeros]] of effects((place) => place === 0).entries()) {
      expect(ones).toBeCloseTo([10, 5.5, 4, 2][i], 10);
      expect(zeros).toBeCloseTo(ones, 10);
    }
    // All of each cluster: it stays where it is believed to be.
    for (const [ones] of effects(() => true)) expect(Math.abs(ones - 10)).toBeLessThan(1.5);
  });

  it('has no variance of one cluster', () => {
    expect(summaryOf({ values: [1, 0, 1], clusters: ['a', 'a', 'a'] })).toMatchObject({ groups: 1, variance: null, designEffect: null });
  });

  it('takes rounding for no variance', () => {
    const equal = summaryOf({ values: Array.from({ length: 7 }, () => 0.1) });
    expect(equal).toMatchObject({ mean: 0.1, variance: 0 });
    // Each cluster has the mean 0.7, but for the last digit.
    expect(summaryOf({ values: [0.5, 0.9, 0.7, 0.7, 0.9, 0.5], clusters: [1, 1, 2, 2, 3, 3] }).variance).toBe(0);
  });
});

it('groupsOf keeps what is common out of the totals', () => {
  const { origin, totals, sizes } = groupsOf({ values: [5, 7, 6], clusters: ['x', 'y', 'x'] });
  expect([origin, [...totals], [...sizes]]).toEqual([5, [1, 2], [2, 1]]);
});

it('deltaOf is arm less control, zero where rounding alone differs, and null where a mean is missing', () => {
  const [a, b, none] = [[0.9, 0.9, 0.2], [0.2, 0.9, 0.9], []].map((values) => summaryOf({ values }));
  expect(a.mean).not.toBe(b.mean);
  expect([deltaOf(a, b), deltaOf(a, none), deltaOf(none, a)]).toEqual([0, null, null]);
  expect(deltaOf(summaryOf({ values: [3] }), summaryOf({ values: [1] }))).toBe(2);
});
