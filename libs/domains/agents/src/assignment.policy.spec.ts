import { armOf, bucketOf } from './assignment.policy';

const ROLLOUT = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const arm = (label: string, weight: number) => ({ label, weight, revision_id: ROLLOUT, version: 1 });
const rollout = (unit: 'chat' | 'originator') => ({ id: ROLLOUT, unit, arms: [arm('a', 1_000), arm('b', 3_000), arm('c', 6_000)] });
const named = (unit: 'chat' | 'originator', chat_id: string, originator: string | null = null) =>
  armOf(rollout(unit), { chat_id, originator }).label;

describe('the arm of a chat', () => {
  it('follows from rollout and unit by the whole SHA-256, read as one number', () => {
    // By `printf '%s' <rollout>:<key> | sha256sum`, and the number modulo 10000.
    expect(['ann', 'inbox:ann@example.com', ''].map((key) => bucketOf(ROLLOUT, key))).toEqual([3923, 1825, 1522]);
  });

  it('is the first whose weight and those before it come to more than the bucket', () => {
    const drawn = Array.from({ length: 20_000 }, (_, i) => ({ bucket: bucketOf(ROLLOUT, `chat ${i}`), label: named('chat', `chat ${i}`) }));
    for (const { bucket, label } of drawn) expect([bucket, label]).toEqual([bucket, bucket < 1_000 ? 'a' : bucket < 4_000 ? 'b' : 'c']);
    // Five standard deviations.
    const share = (label: string) => drawn.filter((one) => one.label === label).length / drawn.length;
    expect(Math.abs(share('a') - 0.1)).toBeLessThan(0.011);
    expect(Math.abs(share('b') - 0.3)).toBeLessThan(0.017);
  });

  it('is that of its originator where the rollout goes by these, and the chat is known to have one', () => {
    expect(named('originator', 'one', 'ann')).toBe(named('originator', 'two', 'ann'));
    expect(named('originator', 'one')).toBe(named('chat', 'one'));
    expect(named('chat', 'one', 'ann')).toBe(named('chat', 'one', 'bob'));
    const ofAnn = Array.from({ length: 50 }, (_, i) => named('chat', `chat ${i}`, 'ann'));
    expect(new Set(ofAnn).size).toBe(3);
  });
});
