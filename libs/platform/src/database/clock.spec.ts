import { DatabaseClock } from './clock';

describe("the database's clock", () => {
  const AT = Date.UTC(2026, 0, 1);
  afterEach(() => jest.restoreAllMocks());

  it('is carried on from the last look, whatever this machine takes for the time', async () => {
    const clock = new DatabaseClock(async () => AT);
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1_000);
    await clock.set();
    expect(clock.now().getTime() - AT).toBeLessThan(60_000);
  });

  it('is looked at again, once, when the machine has slept', async () => {
    const ask = jest.fn(async () => AT);
    const clock = new DatabaseClock(ask);
    await clock.set();
    clock.now();
    expect(ask).toHaveBeenCalledTimes(1);

    const awake = Date.now() + 3_600_000;
    jest.spyOn(Date, 'now').mockReturnValue(awake);
    ask.mockResolvedValue(AT + 3_600_000);
    clock.now();
    clock.now();
    expect(ask).toHaveBeenCalledTimes(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(AT + 3_600_000);
  });

  it('is looked at again where a look took too long, and is as the shortest of them says', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    jest.spyOn(Date, 'now').mockImplementation(() => AT + now);
    let trips = [2_000, 10];
    // The database reads its time when it is asked, and the answer is what takes so long.
    const clock = new DatabaseClock(async () => {
      const time = AT + now;
      now += trips.shift() ?? 3_000;
      return time;
    });
    await clock.set();
    expect([trips, clock.now().getTime() - AT - now]).toEqual([[], -5]);
    // What is known better stands, however long a later look takes.
    await clock.set();
    expect(clock.now().getTime() - AT - now).toBe(-5);

    trips = [4_000, 2_000, 1_000, 2_000, 3_000];
    const slow = new DatabaseClock(async () => {
      const time = AT + now;
      now += trips.shift()!;
      return time;
    });
    await slow.set();
    expect([trips, slow.now().getTime() - AT - now]).toEqual([[], -500]);
  });
});
