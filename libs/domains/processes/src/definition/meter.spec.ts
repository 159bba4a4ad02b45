import { Meter } from './meter';

const work = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until;);
};

describe('the time that an evaluation takes', () => {
  it('is that of its steps, each short, and no pause that the memory of the process makes in one of them', () => {
    const meter = new Meter();
    work(80);
    expect(() => meter.look()).not.toThrow();
    work(80);
    expect(() => meter.look()).not.toThrow();
  });

  it('ends it where that is too much', () => {
    const meter = new Meter();
    const evaluate = () => {
      for (let i = 0; i < 1_000; i++) {
        work(1);
        meter.look();
      }
    };
    expect(evaluate).toThrow(/50 ms/);
  });
});
