export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export const asList = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(asObject) : []);

/** The text of a value that is one. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
