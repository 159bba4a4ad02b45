const DOLLARS: ReadonlySet<string> = new Set(['cost_usd', 'usd_cost', 'total_cost_usd']);
/** In these, users and tools name what they like. */
const THEIR_OWN: ReadonlySet<string> = new Set(['arguments', 'schema', 'answer']);

/** The data of an event for an organization that pays in credits. */
export const withoutDollars = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, DOLLARS.has(key) ? null : THEIR_OWN.has(key) ? value : concealed(value)]),
  );

function concealed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(concealed);
  return value === null || typeof value !== 'object' ? value : withoutDollars(value as Record<string, unknown>);
}
