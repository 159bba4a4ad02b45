import { daysOf, summarize, type UsedRow } from './usage.summary';

const row = (level: number, keys: Partial<UsedRow>): UsedRow => ({
  level,
  day: null,
  agent_id: null,
  model_key: null,
  feature: null,
  chats: 0,
  turns: 0,
  calls: 1,
  tokens: '0',
  cost_usd: '0.1',
  credits: '1',
  ...keys,
});

const facts = {
  window: '24h' as const,
  from: new Date('2026-11-19T12:00:00Z'),
  to: new Date('2026-11-20T12:00:00Z'),
  used: [],
  names: new Map([['a', 'Ada']]),
  showDollars: true,
};

describe('daysOf', () => {
  it.each([
    ['the days that a window touches', '2026-11-19T12:00:00Z', '2026-11-20T12:00:00Z', ['2026-11-19', '2026-11-20']],
    ['a day that has just begun', '2026-11-19T00:00:00Z', '2026-11-20T00:00:00Z', ['2026-11-19', '2026-11-20']],
    ['the end of a year', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:01Z', ['2026-12-31', '2027-01-01']],
  ])('lists %s', (_, from, to, days) => {
    expect(daysOf(new Date(from), new Date(to))).toEqual(days);
  });
});

describe('summarize', () => {
  it('shows zeros where nothing was used', () => {
    const zero = { chats: 0, turns: 0, tokens: 0, cost_usd: '0', credits: '0' };
    expect(summarize(facts)).toMatchObject({
      totals: zero,
      by_day: [
        { day: '2026-11-19', ...zero },
        { day: '2026-11-20', ...zero },
      ],
      by_agent: [],
      by_model: [],
      by_feature: [],
    });
  });

  it('keeps the sum apart from calls that no agent made', () => {
    const used = [row(0b1111, { tokens: '30' }), row(0b1011, { tokens: '10' }), row(0b1011, { agent_id: 'a', tokens: '20' })];
    const summary = summarize({ ...facts, used });
    expect(summary.totals.tokens).toBe(30);
    expect(summary.by_agent).toEqual([
      expect.objectContaining({ agent_id: 'a', agent_name: 'Ada', tokens: 20 }),
      expect.objectContaining({ agent_id: null, agent_name: null, tokens: 10 }),
    ]);
  });

  it('lists agents that have chats but no calls, and no model or feature for them', () => {
    const nothing = { calls: 0, cost_usd: '0', credits: '0' };
    const used = [
      row(0b1011, { agent_id: 'b', chats: 2, turns: 4, ...nothing }),
      row(0b0111, { day: '2026-11-20', chats: 2, turns: 3, ...nothing }),
      row(0b0111, { day: '2026-11-19', turns: 1, ...nothing }),
      row(0b1101, { chats: 2, turns: 4, ...nothing }),
      row(0b1110, { chats: 2, turns: 4, ...nothing }),
    ];
    const summary = summarize({ ...facts, used });
    expect(summary.by_agent).toEqual([{ agent_id: 'b', agent_name: null, chats: 2, turns: 4, tokens: 0, cost_usd: '0', credits: '0' }]);
    expect(summary.by_day.map(({ chats: c, turns: t }) => [c, t])).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect([summary.by_model, summary.by_feature]).toEqual([[], []]);
  });

  it('orders by tokens', () => {
    const used = [
      row(0b1101, { model_key: 'small', tokens: '1' }),
      row(0b1101, { model_key: 'large', tokens: '100' }),
      row(0b1110, { feature: 'title', tokens: '5' }),
      row(0b1110, { feature: 'compaction', tokens: '5' }),
    ];
    const summary = summarize({ ...facts, used });
    expect(summary.by_model.map((m) => m.model_key)).toEqual(['large', 'small']);
    expect(summary.by_feature.map((f) => f.feature)).toEqual(['compaction', 'title']);
  });

  it('hides every dollar where credits are billed', () => {
    const used = [
      row(0b1111, {}),
      row(0b0111, { day: '2026-11-20' }),
      row(0b1011, { agent_id: 'a' }),
      row(0b1101, { model_key: 'm' }),
      row(0b1110, { feature: 'f' }),
    ];
    const { totals, by_day, by_agent, by_model, by_feature } = summarize({ ...facts, used, showDollars: false });
    for (const item of [totals, ...by_day, ...by_agent, ...by_model, ...by_feature]) expect(item.cost_usd).toBeNull();
    expect(totals.credits).toBe('1');
  });
});
