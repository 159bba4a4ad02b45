import { setImmediate as letOthersIn } from 'node:timers/promises';
import { AwakeTimer } from './awake-timer';

const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe('a timer of a process that is awake', () => {
  it('calls once', async () => {
    const call = jest.fn();
    await new Promise<void>((done) => {
      new AwakeTimer(20, () => done(call()));
    });
    await letOthersIn();
    expect(call).toHaveBeenCalledTimes(1);
  });

  it('counts what its process stood still for as a part, so that nobody has less time for it', async () => {
    const call = jest.fn();
    const timer = new AwakeTimer(1_000, call);
    standStill(1_500);
    // What is due, and then what has come.
    for (let i = 0; i < 3; i++) await letOthersIn();
    expect(call).not.toHaveBeenCalled();
    expect(timer.stop()).toBeGreaterThan(0);
  });

  it('calls no more once it is stopped', async () => {
    const call = jest.fn();
    const timer = new AwakeTimer(1, call);
    timer.stop();
    standStill(20);
    for (let i = 0; i < 3; i++) await letOthersIn();
    expect(call).not.toHaveBeenCalled();
  });
});
