import { type Problem, requireValid } from '@aps/contracts';
import { CAPS, FEATURES } from '../entitlements';

export type Overrides = Record<string, boolean | number>;

/** Caps are columns of four bytes. */
const MAX_CAP = 2 ** 31 - 1;

const isCap = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= -1 && (value as number) <= MAX_CAP;

/**
 * Entitlements of an organization's own after a wish: what is absent stays, null inherits from the plan again, a value sets.
 *
 * @throws DomainError 422 for a name that is no entitlement, and for values of the wrong kind, all at once
 */
export function overridden(before: Overrides, wish: Record<string, unknown>): Overrides {
  const after = { ...before };
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(wish)) {
    const isFeature = (FEATURES as readonly string[]).includes(name);
    const refuse = (msg: string, type: string) => problems.push({ loc: ['body', 'overrides', name], msg, type });
    if (!isFeature && !(CAPS as readonly string[]).includes(name)) refuse('This is no entitlement that can be overridden', 'value_error');
    else if (value === null) delete after[name];
    else if (isFeature && typeof value !== 'boolean') refuse('Input should be a valid boolean', 'bool_type');
    else if (!isFeature && !isCap(value)) refuse('Input should be an integer from -1 (unlimited) on', 'int_parsing');
    else after[name] = value as boolean | number;
  }
  requireValid(problems);
  return after;
}
