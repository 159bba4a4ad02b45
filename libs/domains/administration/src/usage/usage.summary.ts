export type UsageWindow = '24h' | '7d' | '30d';

/** Sums of receipts over one break-down. `level` says which: the bits of PostgreSQL's `grouping(day, agent_id, model_key, feature)`. */
export interface SpendRow {
  level: number;
  day: string | null;
  agent_id: string | null;
  model_key: string | null;
  feature: string | null;
  calls: number;
  /** A bigint, as text. */
  tokens: string;
  cost_usd: string;
  credits: string;
}

/** Chats or turns of one agent on one day. */
export interface CountRow {
  day: string;
  agent_id: string | null;
  count: number;
}

export interface UsageFacts {
  window: UsageWindow;
  from: Date;
  to: Date;
  spend: SpendRow[];
  chats: CountRow[];
  turns: CountRow[];
  names: ReadonlyMap<string, string>;
  /** Otherwise they are null. */
  showDollars: boolean;
}

/** A column that is *not* grouped by has its bit set. */
const LEVEL = { total: 0b1111, day: 0b0111, agent: 0b1011, model: 0b1101, feature: 0b1110 };

/** The days, in UTC, that a window touches. */
export function daysOf(from: Date, to: Date): string[] {
  const days: string[] = [];
  for (let at = Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()); at <= to.getTime(); at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

/** Puts the sums into the shape of the answer. */
export function summarize({ window, from, to, spend, chats, turns, names, showDollars }: UsageFacts) {
  const level = (wanted: number) => spend.filter((row) => row.level === wanted);
  const spendOf = (row: SpendRow | undefined) => ({
    tokens: Number(row?.tokens ?? 0),
    cost_usd: showDollars ? (row?.cost_usd ?? '0') : null,
    credits: row?.credits ?? '0',
  });
  const totalsOf = (row: SpendRow | undefined, counts: (c: CountRow) => boolean) => ({
    chats: count(chats, counts),
    turns: count(turns, counts),
    ...spendOf(row),
  });

  const byAgent = new Map(level(LEVEL.agent).map((row) => [row.agent_id, row]));
  const agentIds = new Set([...byAgent.keys(), ...chats.map((c) => c.agent_id), ...turns.map((t) => t.agent_id)]);
  const byDay = new Map(level(LEVEL.day).map((row) => [row.day, row]));
  return {
    window,
    from,
    to,
    totals: totalsOf(level(LEVEL.total)[0], () => true),
    by_day: daysOf(from, to).map((day) => ({ day, ...totalsOf(byDay.get(day), (c) => c.day === day) })),
    by_agent: [...agentIds]
      .map((id) => ({ agent_id: id, agent_name: (id && names.get(id)) ?? null, ...totalsOf(byAgent.get(id), (c) => c.agent_id === id) }))
      .sort(mostTokens((a) => a.agent_id ?? '')),
    by_model: level(LEVEL.model)
      .map((row) => ({ model_key: row.model_key ?? '', calls: row.calls, ...spendOf(row) }))
      .sort(mostTokens((m) => m.model_key)),
    by_feature: level(LEVEL.feature)
      .map((row) => ({ feature: row.feature ?? '', calls: row.calls, ...spendOf(row) }))
      .sort(mostTokens((f) => f.feature)),
  };
}

export type UsageSummary = ReturnType<typeof summarize>;

const count = (rows: CountRow[], wanted: (row: CountRow) => boolean) => rows.reduce((sum, row) => (wanted(row) ? sum + row.count : sum), 0);

/** By tokens, the largest first; the key makes the order the same each time. */
const mostTokens =
  <T extends { tokens: number }>(key: (item: T) => string) =>
  (a: T, b: T) =>
    b.tokens - a.tokens || key(a).localeCompare(key(b));
