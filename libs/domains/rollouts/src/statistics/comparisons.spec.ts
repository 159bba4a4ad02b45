import { holm, sampleRatio } from './comparisons';

describe('holm', () => {
  it('adjusts step by step', () => {
    // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    expect(holm([0.01, 0.04, 0.03, 0.005]).map((p) => Number(p!.toFixed(12)))).toEqual([0.03, 0.06, 0.06, 0.02]);
    expect(holm([0.4, 0.9, 0.6])).toEqual([1, 1, 1]);
  });

  it('neither adjusts nor counts nulls', () => {
    expect(holm([null, 0.01, null, 0.5])).toEqual([null, 0.02, null, 0.5]);
    expect([holm([]), holm([null]), holm([0.03])]).toEqual([[], [null], [0.03]]);
  });
});

describe('sampleRatio', () => {
  it('is the chi-square test of goodness of fit', () => {
    // Mendel's peas (1866), 9 : 3 : 3 : 1; chi-square 0.470 with three degrees of freedom, p = 0.925.
    const peas = sampleRatio([315, 108, 101, 32], [5625, 1875, 1875, 625]);
    expect(peas.p_value).toBeCloseTo(0.925425895103616, 10);
    expect(peas.warning).toBe(false);
  });

  it('warns where p is below 0.001', () => {
    // Chi-square 10.816 and 10.890; the critical value of one degree is 10.828.
    expect(sampleRatio([5_164.43, 4_835.57].map(Math.round), [5000, 5000])).toMatchObject({ warning: false });
    expect(sampleRatio([5_165, 4_835], [5000, 5000])).toMatchObject({ warning: true });
    expect(sampleRatio([5_000, 5_000], [9000, 1000])).toMatchObject({ warning: true });
  });

  it('says nothing while an arm expects less than five units, or there is one arm', () => {
    expect(sampleRatio([49, 0], [9000, 1000])).toEqual({ p_value: null, warning: false });
    expect(sampleRatio([50, 0], [9000, 1000]).p_value).toBeCloseTo(0.0184, 4);
    expect(sampleRatio([0, 0], [5000, 5000]).p_value).toBeNull();
    expect(sampleRatio([500], [10_000]).p_value).toBeNull();
  });
});
