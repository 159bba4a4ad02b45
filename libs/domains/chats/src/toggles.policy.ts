import { parseToolScope } from '@aps/agents';
import { DomainError, type Problem, requireValid } from '@aps/contracts';
import { covers, WEB_SCOPE, type ToolGrants } from '@aps/tools';

/** Something that a chat can switch. */
export interface Toggle {
  scope: string;
  label: string;
  kind: 'web' | 'connection';
  connection_id: string | null;
}

/** Something that the agent of a chat reaches, and that the caller cannot switch: out of order, or somebody else's alone. */
export interface Unswitchable {
  scope: string;
  isSeen: boolean;
}

/** What a caller wants: exactly one of the two. */
export interface ToggleChange {
  /** Merged into what is set. */
  toggles?: { scope: string; enabled: boolean }[];
  /** Replaces what is set; null = all on. */
  enabled_scopes?: string[] | null;
}

export const WEB_TOGGLE: Toggle = { scope: WEB_SCOPE, label: 'Web search', kind: 'web', connection_id: null };

/** Whether an agent may use a connection, or any single tool of it. */
export function reachesConnection(grants: Pick<ToolGrants, 'allowed_tools' | 'denied_tools'>, scope: string): boolean {
  if (covers(grants.denied_tools, scope)) return false;
  return grants.allowed_tools.some((grant) => {
    const named = parseToolScope(grant);
    return named?.kind === 'all' || grant === scope || (named?.kind === 'tool' && `con:${named.connection}` === scope);
  });
}

/** @throws DomainError 422 unless the change is one of the two, and says one thing about each scope */
export function requireOneChange({ toggles, enabled_scopes }: ToggleChange): void {
  const problems: Problem[] = [];
  if ((toggles === undefined) === (enabled_scopes === undefined))
    problems.push({ loc: ['body'], msg: 'Give exactly one of toggles and enabled_scopes', type: 'value_error' });
  const seen = new Set<string>();
  for (const [i, { scope }] of (toggles ?? []).entries()) {
    if (seen.has(scope)) problems.push({ loc: ['body', 'toggles', i, 'scope'], msg: 'Scopes should not repeat', type: 'value_error' });
    seen.add(scope);
  }
  requireValid(problems);
}

/**
 * What is on after a change.
 *
 * A merge that turns on the last of what can be switched comes back to null, so that connections which are made later are on, too. It
 * keeps what it does not know: a connection that is out of order for a while comes back as it was set. What the caller does not see stays
 * as it is, whichever way the rest is set; null alone is everybody's.
 *
 * @param others what there is besides
 * @returns the scopes in the order of `known`; null = all on
 * @throws DomainError 422 `unknown_reference` at every scope that the chat cannot switch
 */
export function enabledAfter(
  known: readonly Toggle[],
  others: readonly Unswitchable[],
  current: readonly string[] | null,
  change: ToggleChange,
): string[] | null {
  const scopes = known.map((t) => t.scope);
  const all = [...scopes, ...others.map((o) => o.scope)];
  requireKnown(scopes, change);
  if (!change.toggles) {
    const wanted = change.enabled_scopes ?? null;
    const unseen = others.filter((o) => !o.isSeen && (current === null || current.includes(o.scope)));
    return wanted && [...scopes.filter((s) => wanted.includes(s)), ...unseen.map((o) => o.scope)];
  }
  const on = new Set(current ?? all);
  for (const { scope, enabled } of change.toggles) {
    if (enabled) on.add(scope);
    else on.delete(scope);
  }
  const turnedOn = change.toggles.some(({ scope, enabled }) => enabled && current && !current.includes(scope));
  if ((current === null || turnedOn) && all.every((s) => on.has(s))) return null;
  return [...scopes.filter((s) => on.has(s)), ...[...on].filter((s) => !scopes.includes(s))];
}

/** Whether two settings say the same. */
export function sameScopes(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((scope) => b.includes(scope));
}

function requireKnown(scopes: string[], { toggles, enabled_scopes }: ToggleChange): void {
  const named = toggles
    ? toggles.map(({ scope }, i) => ({ scope, path: ['toggles', i, 'scope'] }))
    : (enabled_scopes ?? []).map((scope, i) => ({ scope, path: ['enabled_scopes', i] }));
  const msg = 'This chat has no such scope to switch.';
  const problems = named
    .filter(({ scope }) => !scopes.includes(scope))
    .map(({ path }) => ({ loc: ['body', ...path], msg, type: 'semantic.unknown_reference' }));
  if (problems.length) throw new DomainError('unknown_reference', msg, { problems });
}
