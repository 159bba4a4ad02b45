import { bootstrapDifference, bootstrapMean } from './bootstrap';
import { differenceOfMeans, meanOf, type Interval } from './estimates';
import { Random } from './random';
import { summaryOf } from './sample';

/** What a generator returns, and how often it let others run before. */
function run<T>(steps: Generator<void, T, void>): { result: T; yields: number } {
  for (let yields = 0; ; yields++) {
    const step = steps.next();
    if (step.done) return { result: step.value, yields };
  }
}
const expectInterval = (actual: Interval | null, low: number, high: number) => {
  expect(actual!.low).toBeCloseTo(low, 10);
  expect(actual!.high).toBeCloseTo(high, 10);
};
const FIBONACCI = [1, 2, 3, 5, 8, 13, 21, 34];
const skewed = (n: number, seed: string): Float64Array => {
  const random = new Random(seed);
  return Float64Array.from({ length: n }, () => -Math.log((random.next() + 1) / 2 ** 32));
};

describe('Random', () => {
  // Expected numbers are those of sfc32 written in Python, with integers of any size, and hashlib.
  it('is sfc32 of the seed’s hash', () => {
    const random = new Random('experiment');
    expect([1, 2, 3, 4].map(() => random.next())).toEqual([3817475777, 512924972, 1166318981, 455185065]);
    const below = new Random('experiment');
    expect(Array.from({ length: 12 }, () => below.below(10))).toEqual([8, 1, 2, 1, 9, 8, 5, 9, 7, 2, 6, 7]);
  });

  it('draws each number as often', () => {
    const random = new Random('die');
    const counts = new Array<number>(6).fill(0);
    for (let i = 0; i < 60_000; i++) counts[random.below(6)]++;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });
});

describe('bootstrapMean', () => {
  // By NumPy of the same resamples: numpy.quantile(means, [0.025, 0.975]).
  it('gives the percentiles of 2,000 resamples', () => {
    const { result } = run(bootstrapMean({ values: FIBONACCI }, 'seed'));
    expect(result.mean).toBeCloseTo(87 / 8, 12);
    expectInterval(result.ci, 4.375, 19.003125);
  });

  it('draws clusters whole', () => {
    expectInterval(run(bootstrapMean({ values: FIBONACCI, clusters: [0, 0, 1, 1, 2, 2, 2, 3] }, 'seed')).result.ci, 2.75, 22);
  });

  it('gives the same, whatever order the values come in, and another for another seed', () => {
    // Rounded, so that many clusters have the same least value.
    const [values, clusters] = [[...skewed(300, 'x').map((x) => Math.round(x * 10) / 10)], Array.from({ length: 300 }, (_, i) => i % 40)];
    const straight = run(bootstrapMean({ values, clusters }, 's')).result;
    const reversed = run(bootstrapMean({ values: [...values].reverse(), clusters: [...clusters].reverse() }, 's')).result;
    expect(reversed.ci).toEqual(straight.ci);
    expect(run(bootstrapMean({ values, clusters }, 't')).result.ci).not.toEqual(straight.ci);
  });

  it('agrees with Student where values are many, and leans to where they are skewed', () => {
    const sample = { values: skewed(2_000, 'many') };
    const [boot, student] = [run(bootstrapMean(sample, 's')).result.ci!, meanOf(summaryOf(sample)).ci!];
    expect(boot.low).toBeCloseTo(student.low, 2);
    expect(boot.high).toBeCloseTo(student.high, 2);
    const few = run(bootstrapMean({ values: FIBONACCI }, 's')).result;
    expect(few.ci!.high - few.mean!).toBeGreaterThan(few.mean! - few.ci!.low);
  });

  it('is Student’s of more than 2,000 values, at once', () => {
    const sample = { values: skewed(2_001, 'more') };
    expect(run(bootstrapMean(sample, 's'))).toEqual({ result: meanOf(summaryOf(sample)), yields: 0 });
  });

  it('has no interval of less than two values or clusters, and none that is wide where nothing varies', () => {
    expect(run(bootstrapMean({ values: [] }, 's')).result).toEqual({ mean: null, ci: null });
    expect(run(bootstrapMean({ values: [4] }, 's')).result).toEqual({ mean: 4, ci: null });
    expect(run(bootstrapMean({ values: [4, 6], clusters: [1, 1] }, 's')).result).toEqual({ mean: 5, ci: null });
    expect(run(bootstrapMean({ values: [0.1, 0.1, 0.1] }, 's')).result).toEqual({ mean: 0.1, ci: { low: 0.1, high: 0.1 } });
  });

  it('lets others run, between slices', () => expect(run(bootstrapMean({ values: FIBONACCI }, 's')).yields).toBe(19));
});

describe('bootstrapDifference', () => {
  const control = { values: [2, 2, 4, 4, 9] };

  it('draws from both arms, and tests as Welch does', () => {
    const { result, yields } = run(bootstrapDifference({ values: FIBONACCI }, control, 'seed'));
    expect(result.delta).toBeCloseTo(10.875 - 4.2, 12);
    expectInterval(result.ci, -0.175625, 14.750625);
    expect(result.p_value).toBeCloseTo(0.15405410785633253, 10);
    expect(yields).toBe(19);
  });

  it('is Welch’s where an arm has more than 2,000 values', () => {
    const many = { values: skewed(2_001, 'more') };
    for (const [a, c] of [
      [many, control],
      [control, many],
    ])
      expect(run(bootstrapDifference(a, c, 's')).result).toEqual(differenceOfMeans(summaryOf(a), summaryOf(c)));
  });

  it('has the delta alone where an arm has one value or one cluster', () => {
    expect(run(bootstrapDifference({ values: [5] }, control, 's')).result).toEqual({ delta: 5 - 4.2, ci: null, p_value: null });
    const one = { values: [1, 2], clusters: ['a', 'a'] };
    expect(run(bootstrapDifference(control, one, 's')).result).toEqual({ delta: 4.2 - 1.5, ci: null, p_value: null });
  });

  it('takes well below a second of CPU for the most that is resampled', () => {
    const [a, c] = [{ values: skewed(2_000, 'a') }, { values: skewed(2_000, 'c') }];
    const before = process.cpuUsage();
    run(bootstrapDifference(a, c, 's'));
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(0.7);
  });
});
