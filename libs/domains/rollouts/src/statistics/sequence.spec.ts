import { Random } from './random';
import { summaryOf, type Summary } from './sample';
import { confidenceSequence } from './sequence';

/** A summary of independent values by their moments. */
const by = (n: number, mean: number, squares: number): Summary => ({
  n,
  groups: n,
  effectiveGroups: n,
  mean,
  variance: squares / (n - 1),
  designEffect: 1,
});
const margin = (arm: Summary, control: Summary, minSample: number) => {
  const { ci } = confidenceSequence(arm, control, minSample);
  return ci && (ci.high - ci.low) / 2;
};

describe('confidenceSequence', () => {
  /** Of variance 1/2 each, so that the difference has that of one value. */
  const half = (n: number, mean = 0) => by(n, mean, (0.5 * (n - 1)) / n);

  // The margin of one mean with variance 1, by the formula as it stands in the paper, with SciPy's lambertw for ρ at 100.
  it.each([
    [100, 0.3035122413028551],
    [250, 0.19495906758514783],
    [2000, 0.07472093745048514],
  ])('is Robbins’ normal mixture, after %d chats in each arm', (n, expected) => {
    const { ci } = confidenceSequence(half(n, 0.7), half(n, 0.2), 100);
    expect(ci!.low).toBeCloseTo(0.5 - expected, 12);
    expect(ci!.high).toBeCloseTo(0.5 + expected, 12);
  });

  it('is tightest at the least sample', () => {
    const at = margin(half(400), half(400), 400)!;
    for (const other of [200, 350, 399]) expect(margin(half(400), half(400), other)).toBeGreaterThan(at);
  });

  it('takes unequal arms for what they tell, and the larger arm’s variance where that is larger', () => {
    // 400 and 100 chats are worth 160 in each arm; the variances of the difference are 0.0028012 and 0.0028.
    expect(margin(by(400, 0.6, (0.24 * 399) / 400), by(100, 0.2, (0.16 * 99) / 100), 100)).toBeCloseTo(0.16138667549180566, 12);
    expect(margin(by(400, 0.2, (0.16 * 399) / 400), by(100, 0.6, (0.24 * 99) / 100), 100)).toBeCloseTo(0.16135196494715387, 12);
  });

  it('claims what zero is outside of', () => {
    const claims = (delta: number) => confidenceSequence(half(100, delta), half(100), 100).always_valid;
    expect([claims(0.3035), claims(0.3036), claims(-0.3035), claims(-0.3036)]).toEqual([false, true, false, true]);
    const [none, all] = [by(50, 0, 0), by(50, 1, 0)];
    expect(confidenceSequence(none, none, 50)).toEqual({ ci: { low: 0, high: 0 }, always_valid: false });
    expect(confidenceSequence(all, none, 50)).toEqual({ ci: { low: 1, high: 1 }, always_valid: true });
  });

  it('says nothing before the least sample in each arm, and before ten', () => {
    const nothing = { ci: null, always_valid: false };
    expect(confidenceSequence(half(99, 9), half(100), 100)).toEqual(nothing);
    expect(confidenceSequence(half(100, 9), half(99), 100)).toEqual(nothing);
    expect(confidenceSequence(half(9, 9), half(9), 1)).toEqual(nothing);
    expect(confidenceSequence(half(10, 9), half(10), 1).always_valid).toBe(true);
    expect(confidenceSequence(summaryOf({ values: [] }), half(10), 1)).toEqual(nothing);
  });

  it('says nothing before clusters are worth enough', () => {
    const clustered = (clusters: number, offset: number) => {
      const values = Array.from({ length: 300 }, (_, i) => offset + (i % 7));
      return summaryOf({ values, clusters: values.map((_, i) => i % clusters) });
    };
    expect(confidenceSequence(clustered(29, 9), clustered(30, 0), 100).ci).toBeNull();
    expect(confidenceSequence(clustered(30, 9), clustered(30, 0), 100).always_valid).toBe(true);
    expect(confidenceSequence(clustered(20, 9), clustered(20, 0), 20).always_valid).toBe(true);
    expect(confidenceSequence(clustered(1, 9), clustered(30, 0), 10).ci).toBeNull();
  });
});

/** Of 1,000 experiments without a difference, the share that ever claims one. */
describe('looked at after every ten chats', () => {
  const RUNS = 1_000;
  /** Chats in the larger arm. */
  const CHATS = 2_000;
  type Draw = (random: Random) => number;
  const unit: Draw = (random) => (random.next() + 0.5) / 2 ** 32;
  const bernoulli =
    (p: number): Draw =>
    (random) =>
      unit(random) < p ? 1 : 0;
  const logNormal: Draw = (random) => Math.exp(Math.sqrt(-2 * Math.log(unit(random))) * Math.cos(2 * Math.PI * unit(random)));
  const METRICS: Record<string, Draw> = {
    'a share of 50 %': bernoulli(0.5),
    'a share of 10 %': bernoulli(0.1),
    'a log-normal cost': logNormal,
  };

  /** Running sums of one arm. */
  class Arm {
    private n = 0;
    private sum = 0;
    private squares = 0;
    add(value: number): void {
      this.n++;
      this.sum += value;
      this.squares += value * value;
    }
    summary(): Summary {
      const mean = this.sum / this.n;
      return by(this.n, mean, Math.max(0, this.squares / this.n - mean * mean));
    }
  }

  /** @param each chats from one look to the next, in each arm */
  function claims(draw: Draw, seed: string, each: readonly [number, number], minSamples: readonly number[]): number[] {
    const random = new Random(seed);
    const counts = minSamples.map(() => 0);
    for (let run = 0; run < RUNS; run++) {
      const arms = each.map(() => new Arm());
      const claimed = minSamples.map(() => false);
      for (let chats = 0; chats < CHATS; chats += each[0]) {
        arms.forEach((arm, i) => {
          for (let chat = 0; chat < each[i]; chat++) arm.add(draw(random));
        });
        const [arm, control] = arms.map((a) => a.summary());
        minSamples.forEach((minSample, i) => (claimed[i] ||= confidenceSequence(arm, control, minSample).always_valid));
      }
      claimed.forEach((yes, i) => (counts[i] += yes ? 1 : 0));
    }
    return counts.map((count) => count / RUNS);
  }

  // Ten of both arms together, and on until each has 2,000: more looks than by ten of each, and longer than to 2,000 of both.
  it.each(Object.entries(METRICS))('claims a difference of %s in at most 6.5 % of experiments without one', (name, draw) => {
    for (const rate of claims(draw, name, [5, 5], [1, 10, 30, 100, 500])) {
      expect(rate).toBeLessThanOrEqual(0.065);
      expect(rate).toBeGreaterThan(0);
    }
  });

  it.each([...Object.entries(METRICS), ['a share of 1 %', bernoulli(0.01)] as const])(
    'does so at weights of 90 : 10 of %s',
    (name, draw) => {
      for (const rate of claims(draw, name, [18, 2], [1, 10, 30, 100])) expect(rate).toBeLessThanOrEqual(0.065);
    },
  );

  it('does so where chats of one originator are alike, and some originators begin many', () => {
    const normal: Draw = (random) => Math.log(logNormal(random));
    const [runs, chats, originators] = [300, 1_000, 80];
    let claimed = 0;
    for (let run = 0; run < runs; run++) {
      const random = new Random(`originators ${run}`);
      const [arm, control] = [0, 1].map(() => {
        const ends = Array.from({ length: originators }, () => 0).reduce<number[]>(
          (all) => [...all, (all.at(-1) ?? 0) + logNormal(random)],
          [],
        );
        const effects = ends.map(() => normal(random));
        const clusters = Array.from({ length: chats }, () => {
          const at = unit(random) * ends.at(-1)!;
          return ends.findIndex((end) => at < end);
        });
        return { values: clusters.map((originator) => effects[originator] + normal(random)), clusters };
      });
      for (let n = 50, done = false; n <= chats && !done; n += 50) {
        const upTo = ({ values, clusters }: typeof arm) => summaryOf({ values: values.slice(0, n), clusters: clusters.slice(0, n) });
        done = confidenceSequence(upTo(arm), upTo(control), 30).always_valid;
        claimed += done ? 1 : 0;
      }
    }
    expect(claimed / runs).toBeLessThanOrEqual(0.065);
  });

  it('finds a difference that is there', () => {
    const random = new Random('effect');
    const [arm, control] = [new Arm(), new Arm()];
    for (let chat = 0; chat < CHATS; chat++) {
      arm.add(bernoulli(0.6)(random));
      control.add(bernoulli(0.5)(random));
    }
    expect(confidenceSequence(arm.summary(), control.summary(), 100).always_valid).toBe(true);
  });
});
