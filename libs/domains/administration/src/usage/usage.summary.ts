export type UsageWindow = '24h' | '7d' | '30d';

/** What was used, over one break-down. `level` says which: the bits of PostgreSQL's `grouping(day, agent_id, model_key, feature)`. */
export interface UsedRow {
  level: number;
  day: string | null;
  agent_id: string | null;
  /** Null for chats and turns, as is the feature. */
  model_key: string | null;
  feature: string | null;
  chats: number;
  turns: number;
  calls: number;
  /** A bigint, as text. */
  tokens: string;
  cost_usd: string;
  credits: string;
}

export interface UsageFacts {
  window: UsageWindow;
  from: Date;
  to: Date;
  used: UsedRow[];
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
export function summarize({ window, from, to, used, names, showDollars }: UsageFacts) {
  const level = (wanted: number) => used.filter((row) => row.level === wanted);
  const spendOf = (row: UsedRow | undefined) => ({
    tokens: Number(row?.tokens ?? 0),
    cost_usd: showDollars ? (row?.cost_usd ?? '0') : null,
    credits: row?.credits ?? '0',
  });
  const totalsOf = (row: UsedRow | undefined) => ({ chats: row?.chats ?? 0, turns: row?.turns ?? 0, ...spendOf(row) });
  const byDay = new Map(level(LEVEL.day).map((row) => [row.day, row]));
  return {
    window,
    from,
    to,
    totals: totalsOf(level(LEVEL.total)[0]),
    by_day: daysOf(from, to).map((day) => ({ day, ...totalsOf(byDay.get(day)) })),
    by_agent: level(LEVEL.agent)
      .map((row) => ({ agent_id: row.agent_id, agent_name: (row.agent_id && names.get(row.agent_id)) ?? null, ...totalsOf(row) }))
      .sort(mostTokens((a) => a.agent_id ?? '')),
    by_model: level(LEVEL.model)
      .flatMap((row) => (row.model_key === null ? [] : { model_key: row.model_key, calls: row.calls, ...spendOf(row) }))
      .sort(mostTokens((m) => m.model_key)),
    by_feature: level(LEVEL.feature)
      .flatMap((row) => (row.feature === null ? [] : { feature: row.feature, calls: row.calls, ...spendOf(row) }))
      .sort(mostTokens((f) => f.feature)),
  };
}

export type UsageSummary = ReturnType<typeof summarize>;

/** By tokens, the largest first; the key makes the order the same each time. */
const mostTokens =
  <T extends { tokens: number }>(key: (item: T) => string) =>
  (a: T, b: T) =>
    b.tokens - a.tokens || key(a).localeCompare(key(b));
