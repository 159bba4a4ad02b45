import { entitlementRequired, Money, requireModelChoice, text, type EntitlementSet } from '@aps/billing';
import { invalid } from '@aps/contracts';
import type { Agent } from '@aps/entities';
import { changesOf } from '@aps/platform/database';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_DEPTH = 16;

/** What a revision seals of what can be set of an agent. */
export const SETTINGS = [
  'name',
  'description',
  'avatar_seed',
  'model',
  'model_mode',
  'reasoning_effort',
  'environment_id',
  'max_steps',
  'max_child_depth',
  'budget_credits_per_period',
  'memory_enabled',
  'metadata',
  'allowed_tools',
  'denied_tools',
  'mounted_skills',
  'knowledge_base_ids',
  'child_agent_ids',
] as const satisfies (keyof Agent)[];

/** What is decided elsewhere. */
type Named = { slug?: string | null; instruction?: string | null };

/**
 * What a caller sets of an agent. Absent leaves it as it is (or as it begins), null clears it. Where it belongs holds at once, for every chat,
 * and is no part of what is sealed.
 */
export type AgentInput = Partial<Pick<Agent, (typeof SETTINGS)[number] | 'team_id' | 'project_id'>> & Named;

/** The columns that an input sets; lists are sets, in the order in which they were given. */
export function columnsOf<E>({ slug: _, instruction: __, ...input }: Omit<Partial<E>, keyof Named> & Named): Partial<E> {
  const given = Object.entries<unknown>(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([field, value]) => [field, Array.isArray(value) ? [...new Set(value)] : value])) as Partial<E>;
}

/** Neither absent nor null. */
export const isSet = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;

/** What of the columns that are sent would change an agent. */
export const editsOf = (before: Agent, columns: Partial<Agent>): Partial<Agent> =>
  changesOf(withPlainBudget(before), withPlainBudget(columns));

/** Its column carries the zeros of its scale. */
const withPlainBudget = <A extends Partial<Pick<Agent, 'budget_credits_per_period'>>>(agent: A): A =>
  isSet(agent.budget_credits_per_period)
    ? { ...agent, budget_credits_per_period: text(new Money(agent.budget_credits_per_period)) }
    : agent;

/**
 * What the plan must include for an input. What is cleared, or sent again as it is, needs nothing.
 *
 * @param before the agent as it is; undefined for one that is not there yet
 */
export function requireEntitled(entitled: EntitlementSet, input: AgentInput, before?: Agent): void {
  const [wish, had] = [withPlainBudget(input), before && withPlainBudget(before)];
  const sets = (field: keyof AgentInput & keyof Agent) => isSet(wish[field]) && wish[field] !== had?.[field];
  if (!entitled.per_agent_budgets && sets('budget_credits_per_period')) throw entitlementRequired('per_agent_budgets');
  requireModelChoice(entitled, { names: sets('model') || sets('reasoning_effort'), mode: sets('model_mode') }, 'model_mode');
}

/** What the fields alone cannot say: the size and depth of metadata. */
export function requireStorable({ metadata }: AgentInput): void {
  if (metadata === undefined || fits(metadata)) return;
  const msg = `Metadata should take at most ${MAX_METADATA_BYTES} bytes of JSON and ${MAX_METADATA_DEPTH} levels`;
  throw invalid({ loc: ['body', 'metadata'], msg, type: 'too_long' });
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Level by level, because what is nested deeply must not be walked by recursion. */
function fits(metadata: Record<string, unknown>): boolean {
  let level: object[] = [metadata];
  for (let depth = 1; level.length; depth++) {
    if (depth > MAX_METADATA_DEPTH) return false;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES;
}
