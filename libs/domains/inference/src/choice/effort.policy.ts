import { type ModelMode, type ReasoningEffort, REASONING_EFFORTS } from '@aps/contracts';
import type { CatalogEntry } from '../inference.types';

/** What a mode stands for as long as the platform has not said which model it takes: the same model, thinking less or more. */
export const MODE_EFFORT: Record<ModelMode, ReasoningEffort | null> = {
  trivial: 'low',
  normal: null,
  high_effort: 'high',
  x_high: 'xhigh',
};

const rank = (effort: ReasoningEffort): number => REASONING_EFFORTS.indexOf(effort);

/** A stored effort; null for anything else. */
export const asEffort = (value: string | null | undefined): ReasoningEffort | null =>
  (REASONING_EFFORTS as readonly string[]).includes(value ?? '') ? (value as ReasoningEffort) : null;

export interface EffortRules {
  /** The platform's ceiling. */
  max: ReasoningEffort | null;
  /** False: nobody's model reasons. */
  thinking: boolean;
}

/**
 * The effort a model is called with: the one asked for, under the platform's ceiling, moved down to the nearest one that the model
 * takes (up to its lowest when there is none below).
 */
export function clampEffort(
  wanted: ReasoningEffort | null,
  entry: Pick<CatalogEntry, 'allowed_efforts' | 'supports_reasoning'>,
  rules: EffortRules,
): { effort: ReasoningEffort | null; clamped: boolean } {
  const result = (effort: ReasoningEffort | null) => ({ effort, clamped: wanted !== null && (effort ?? 'none') !== wanted });
  const allowed = entry.allowed_efforts.map(asEffort).filter((e): e is ReasoningEffort => e !== null);
  // Such a model refuses calls that leave the choice to it.
  if (allowed.length === 1) return result(allowed[0]);
  if (!allowed.length && !entry.supports_reasoning) return result(null);
  const asked = rules.thinking ? wanted : 'none';
  if (asked === null) return result(null);
  const limit = rules.max !== null && rank(rules.max) < rank(asked) ? rules.max : asked;
  if (!allowed.length) return result(limit);
  const sorted = [...allowed].sort((a, b) => rank(a) - rank(b));
  return result(sorted.filter((e) => rank(e) <= rank(limit)).at(-1) ?? sorted[0]);
}
