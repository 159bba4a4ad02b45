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
});
