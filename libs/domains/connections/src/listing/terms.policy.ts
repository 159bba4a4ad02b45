import type { ConnectionTool, ToolTerms } from '@aps/entities';
import { isObject } from '@aps/platform/definitions';
import type { AccessLevel } from '@aps/tools';
import { isDeepStrictEqual } from 'node:util';
import type { ListedTool } from '../mcp/tool-server';

/** A tool as it is kept. */
export type KeptTool = Pick<ConnectionTool, 'name' | 'access_level' | 'waiting'> & ToolTerms;

/** What of a tool's terms people have looked at when they let agents use it. */
export interface LookedAt {
  title: string | null;
  description: string;
  access_level: AccessLevel;
  /** Of the arguments, which has words, too; null where it is the same. */
  input_schema: ToolTerms['input_schema'] | null;
}

/** A tool whose server says something else of it than what was accepted. */
export interface ToolChange {
  name: string;
  was: LookedAt;
  now: LookedAt;
  accepted: boolean;
}

/** What a listing makes of the tools of a connection. */
export interface Relisted {
  tools: KeptTool[];
  changed: ToolChange[];
}

/** Of one server, those that are gone and remembered among them. */
const MAX_KNOWN = 2_000;

/** Whether a server has had more tools than are remembered: one of those that are not could come back as another. */
export const areTooMany = (kept: readonly Pick<KeptTool, 'name'>[], listed: readonly Pick<ListedTool, 'name'>[]): boolean =>
  new Set([...kept, ...listed].map(({ name }) => name)).size > MAX_KNOWN;

/** Destructive where it says so, whatever else it says; read where it says that; and where it says nothing, write. */
export const levelOf = ({ destructiveHint, readOnlyHint }: ToolTerms['hints']): AccessLevel =>
  destructiveHint ? 'destructive' : readOnlyHint ? 'read' : 'write';

/**
 * What holds after a server has listed its tools. Its texts are read by models, and its hints decide what a call needs: so a tool that is
 * known keeps the texts that were accepted, and the more severe of its hints, until somebody accepts what the server says now.
 *
 * @param kept all that were ever listed, those that are gone, too: otherwise a tool could go, and come back as another
 * @param accept somebody who may change the connection accepts everything
 */
export function relist(kept: readonly KeptTool[], listed: readonly ListedTool[], accept: boolean): Relisted {
  const known = new Map(kept.map((tool) => [tool.name, tool]));
  const tools = new Map<string, KeptTool>();
  const changed: ToolChange[] = [];
  for (const { name, ...said } of listed) {
    if (tools.has(name)) continue;
    const now: ToolTerms = { ...said, hints: declared(said.hints) };
    const before = known.get(name);
    const isNews = before !== undefined && isAcceptedAlone(before, now);
    if (isNews) changed.push({ name, was: lookedAt(before, now), now: lookedAt(now, before), accepted: accept });
    const inForce = isNews && !accept ? cautious(before, now) : now;
    tools.set(name, { name, ...inForce, access_level: levelOf(inForce.hints), waiting: isNews && !accept ? now : null });
  }
  return { tools: [...tools.values()], changed };
}

const lookedAt = ({ title, description, hints, input_schema }: ToolTerms, beside: ToolTerms): LookedAt => ({
  title,
  description,
  access_level: levelOf(hints),
  input_schema: isDeepStrictEqual(input_schema, beside.input_schema) ? null : input_schema,
});

/** Hints that are not declared, and those that are declared to be false, say the same. */
const declared = ({ readOnlyHint, destructiveHint, idempotentHint }: ToolTerms['hints']): ToolTerms['hints'] => ({
  ...(readOnlyHint && { readOnlyHint }),
  ...(destructiveHint && { destructiveHint }),
  ...(idempotentHint && { idempotentHint }),
});

/** Whether the new terms have another text, or a hint by which fewer decisions would be asked for. */
const isAcceptedAlone = (before: ToolTerms, now: ToolTerms): boolean =>
  before.title !== now.title ||
  before.description !== now.description ||
  isReworded(before.input_schema, now.input_schema) ||
  (before.hints.destructiveHint === true && !now.hints.destructiveHint) ||
  (!before.hints.readOnlyHint && now.hints.readOnlyHint === true);

/** The old texts, the more severe hints, and the arguments that the server takes now. */
function cautious(before: ToolTerms, now: ToolTerms): ToolTerms {
  const { title, description, input_schema } = before;
  return {
    title,
    description,
    input_schema: isReworded(input_schema, now.input_schema) ? worded(now.input_schema, input_schema) : now.input_schema,
    hints: declared({
      ...now.hints,
      destructiveHint: before.hints.destructiveHint ?? now.hints.destructiveHint,
      readOnlyHint: before.hints.readOnlyHint && now.hints.readOnlyHint,
    }),
  };
}

/** Keywords of JSON Schema that say something to readers and nothing to validators. */
const TEXTS = new Set(['title', 'description', 'examples', 'default', '$comment']);
/** Keywords whose keys are names of the schema's author. */
const NAMED_SCHEMAS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Whether texts within the schema are new, as against what stood at the same place. One that only goes says nothing. */
function isReworded(before: unknown, now: unknown, isNames = false): boolean {
  if (Array.isArray(now)) return now.some((item, i) => isReworded(Array.isArray(before) ? before[i] : undefined, item));
  if (!isObject(now)) return false;
  const old = isObject(before) ? before : {};
  return Object.entries(now).some(([key, value]) =>
    !isNames && TEXTS.has(key) ? !isDeepStrictEqual(value, old[key]) : isReworded(old[key], value, !isNames && NAMED_SCHEMAS.has(key)),
  );
}

/** A schema with the texts of another one at the same places, and no others. */
function worded(now: Record<string, unknown>, before: unknown): Record<string, unknown> {
  return rewritten(now, before, false) as Record<string, unknown>;
}

function rewritten(now: unknown, before: unknown, isNames: boolean): unknown {
  if (Array.isArray(now)) return now.map((item, i) => rewritten(item, Array.isArray(before) ? before[i] : undefined, false));
  if (!isObject(now)) return now;
  const old = isObject(before) ? before : {};
  const entries = Object.entries(now).flatMap(([key, value]): [string, unknown][] => {
    if (isNames || !TEXTS.has(key)) return [[key, rewritten(value, old[key], !isNames && NAMED_SCHEMAS.has(key))]];
    return key in old ? [[key, old[key]]] : [];
  });
  return Object.fromEntries(entries);
}
