import { isSlug } from '@aps/contracts';

type NamedKind = 'kb' | 'con' | 'agent' | 'process' | 'prompt';

/** A tool scope, read. What it names may or may not exist. */
export type ToolScope =
  | { kind: 'all' | 'core' | 'web' | 'exec' }
  | { kind: NamedKind; slug: string; write?: true }
  | { kind: 'tool'; connection: string; name: string };

const FIXED: Record<string, ToolScope> = {
  '*': { kind: 'all' },
  core: { kind: 'core' },
  'system:web': { kind: 'web' },
  'system:exec': { kind: 'exec' },
};
const NAMED_SCOPE = /^(kb|con|agent|process|prompt):(.+)$/;
/** A base that may be written to as well. */
const WRITTEN = /^kb:(.+):write$/;
/** An exact tool: the connection's slug, a dot, the name that its server gave the tool. */
const EXACT = /^([a-z0-9-]{1,64})\.([A-Za-z0-9_./-]{1,128})$/;

/**
 * Reads `core`, `system:web`, `system:exec`, `kb:{slug}`, `kb:{slug}:write`, `con:{slug}`, `agent:{slug}`, `process:{slug}`, `prompt:{slug}`, `*` or an exact tool
 * slug `con_slug.tool_name`.
 *
 * @returns undefined for anything else
 */
export function parseToolScope(text: string): ToolScope | undefined {
  if (Object.hasOwn(FIXED, text)) return FIXED[text];
  const written = WRITTEN.exec(text);
  if (written) return isSlug(written[1]) ? { kind: 'kb', slug: written[1], write: true } : undefined;
  const named = NAMED_SCOPE.exec(text);
  if (named) return isSlug(named[2]) ? { kind: named[1] as NamedKind, slug: named[2] } : undefined;
  const exact = EXACT.exec(text);
  return exact && isSlug(exact[1]) ? { kind: 'tool', connection: exact[1], name: exact[2] } : undefined;
}
