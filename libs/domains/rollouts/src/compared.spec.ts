import { compare, type Compared } from './compared';
import { disputesOf } from './samples.policy';
import { Random } from './statistics/random';

const zeroOne = (hits: number, n: number) => ({ values: Array.from({ length: n }, (_, i) => Number(i < hits)) });
const SEED = 'rollout/metric';

describe('figures of arms', () => {
  it('stand beside those of the control, which is compared with nothing', async () => {
    const [control, arm, alike] = await compare([zeroOne(48, 80), zeroOne(56, 70), zeroOne(49, 80)], {
      kind: 'share',
      control: 0,
      minSample: 30,
      seed: SEED,
    });
    expect(control).toEqual({
      ...{ mean: 0.6, ci_low: 0.490454649191, ci_high: 0.700381724764, n: 80 },
      ...{ delta: null, delta_ci_low: null, delta_ci_high: null, significant: false, p_value: null, p_value_adjusted: null },
      ...{ sequential_ci_low: null, sequential_ci_high: null, always_valid: false },
    });
    // Newcombe's own example: 0.0524 to 0.3339.
    expect(arm).toMatchObject({ mean: 0.8, delta: 0.2, delta_ci_low: expect.closeTo(0.0524, 4), delta_ci_high: expect.closeTo(0.3339, 4) });
    expect(arm.p_value_adjusted).toBeCloseTo(2 * arm.p_value!, 9);
    expect(arm.sequential_ci_low).toBeLessThan(arm.delta_ci_low!);
    expect([arm.always_valid, alike.significant, alike.p_value_adjusted! >= alike.p_value!]).toEqual([false, false, true]);
  });

  it('that lie apart differ significantly, and in the end whenever one looks', async () => {
    const [, arm] = await compare([zeroOne(200, 1_000), zeroOne(700, 1_000)], { kind: 'share', control: 0, minSample: 30, seed: SEED });
    expect(arm).toMatchObject({ significant: true, always_valid: true, delta: 0.5 });
  });

  it('that are skewed have the same intervals under the same seed, and others under another', async () => {
    const samples = [1, 2].map((scale) => ({ values: Array.from({ length: 200 }, (_, i) => scale * Math.exp((i % 20) / 4)) }));
    const of = (seed: string) => compare(samples, { kind: 'skewed', control: 0, minSample: 30, seed });
    const [one, again, other] = [await of('a'), await of('a'), await of('b')];
    expect(again).toEqual(one);
    expect(other[1].delta_ci_low).not.toBe(one[1].delta_ci_low);
    expect(other[1].p_value).toBe(one[1].p_value);
  });

  it('of a lone arm are compared with nothing', async () => {
    const [arm] = await compare([{ values: [1, 2, 3] }], { kind: 'mean', control: null, minSample: 30, seed: SEED });
    expect(arm).toMatchObject({ mean: 2, n: 3, delta: null, significant: false });
    expect(arm.ci_low).toBeCloseTo(-0.4841, 4);
  });

  it('of disputes know that decisions of one chat are disputed together', async () => {
    const chats = (arm: string, isDisputed: (i: number) => boolean, n: number) =>
      disputesOf(
        Array.from({ length: n }, (_, i) => {
          const all = { arm_label: arm, recorded: 20, reviewed: 20, disputed: isDisputed(i) ? 20 : 0 };
          return { ...all, chat_id: `${arm}${i}`, unit: `${arm}${i}` };
        }),
        'chat',
      );
    const how = { kind: 'share', control: 0, minSample: 30, seed: SEED } as const;
    const [, few] = await compare([chats('a', (i) => i < 1, 5), chats('b', (i) => i < 4, 5)], how);
    expect(few).toMatchObject({ n: 100, delta: 0.6, significant: false, sequential_ci_low: null, always_valid: false });

    // Of experiments without a difference few claim one.
    const random = new Random('disputes');
    const claimed = async (n: number, oneOf: number, claims: (arm: Compared) => boolean) => {
      const draw = () => random.next() % oneOf === 0;
      let count = 0;
      for (let run = 0; run < 200; run++) count += Number(claims((await compare([chats('a', draw, n), chats('b', draw, n)], how))[1]));
      return count;
    };
    expect(await claimed(40, 2, (arm) => arm.always_valid || arm.p_value! < 0.01)).toBeLessThan(10);
    // Disputes are rare: often one arm has none.
    expect(await claimed(30, 20, (arm) => arm.significant)).toBeLessThan(10);
    const [, two] = await compare([chats('a', () => false, 2), chats('b', () => true, 2)], how);
    expect(two).toMatchObject({ delta: 1, significant: false });
  });
});
