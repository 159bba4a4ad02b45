import { pick } from './json-path';

/** What finds its process asleep, without work, for longer than all paths may take: each of the first times that it is read. */
const readAfterSleeping = (times: number) => ({
  get title() {
    if (times-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80);
    return 'Hello';
  },
});

describe('paths that look everywhere', () => {
  it('find what is there also where the process had to wait', () => {
    expect(pick({ items: [readAfterSleeping(3)] }, { subject: '$..title' })).toEqual({ subject: 'Hello' });
  });

  it('are given up where it waits again and again', () => {
    expect(pick({ items: [readAfterSleeping(1_000)] }, { subject: '$..title' })).toEqual({});
  });
});
