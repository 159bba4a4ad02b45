import { DomainError, type ErrorCode, invalid, type Problem, refuseField, requireValid } from '@aps/contracts';
import { isMaskedKey } from '@aps/platform/crypto';
import type { Route, RouteSetting } from '../inference.types';

/** What a request says about one route: absent stays, null clears. */
export interface RoutePatch {
  api_key?: string | null;
  credential_source?: 'api_key' | 'gateway' | null;
  base_url?: string | null;
  enabled?: boolean | null;
}

const SOURCES = ['api_key', 'gateway'];
/** A key travels in a header; what no header can carry is a slip of the clipboard. */
const KEY = /^[\x21-\x7e]{1,4096}$/;
const MAX_URL = 2_048;
/** Far more than there are. */
const MAX_ROUTES = 500;

/** What keeps a text from being a key. A masked one has an error of its own, later: {@link maskedProblem}. */
export const keyProblem = (text: string): Omit<Problem, 'loc'> | undefined =>
  KEY.test(text) || isMaskedKey(text)
    ? undefined
    : { msg: 'Input should be a key: printable characters without spaces', type: 'value_error' };

export const maskedProblem = (text: string | null | undefined): string | undefined =>
  text && isMaskedKey(text) ? 'This is the masked form of a key. Send the key itself, or leave the field out.' : undefined;

/**
 * Reads the body's `routes`: an object by route slug, whose shape no field decorator can say.
 *
 * @throws DomainError 422 `validation_error` with every problem
 */
export function readRoutePatches(routes: Record<string, unknown>): Map<string, RoutePatch> {
  if (Object.keys(routes).length > MAX_ROUTES)
    throw invalid({ loc: ['body', 'routes'], msg: `Object should have at most ${MAX_ROUTES} properties`, type: 'too_long' });
  const problems: Problem[] = [];
  const patches = new Map<string, RoutePatch>();
  for (const [slug, raw] of Object.entries(routes)) {
    const loc = ['body', 'routes', slug];
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
      problems.push({ loc, msg: 'Input should be a valid object', type: 'dict_type' });
      continue;
    }
    patches.set(slug, readPatch(raw as Record<string, unknown>, loc, problems));
  }
  requireValid(problems);
  return patches;
}

function readPatch(raw: Record<string, unknown>, loc: string[], problems: Problem[]): RoutePatch {
  const patch: RoutePatch = {};
  const read = <K extends keyof RoutePatch>(field: K, check: (value: unknown) => Omit<Problem, 'loc'> | undefined, emptyClears = false) => {
    if (!Object.hasOwn(raw, field) || raw[field] === undefined) return;
    const value = emptyClears && raw[field] === '' ? null : raw[field];
    const problem = value === null ? undefined : check(value);
    if (problem) problems.push({ loc: [...loc, field], ...problem });
    else patch[field] = value as RoutePatch[K];
  };
  const text = (value: unknown) => (typeof value === 'string' ? undefined : { msg: 'Input should be a valid string', type: 'string_type' });
  read('api_key', (v) => text(v) ?? keyProblem(v as string), true);
  read('credential_source', (v) =>
    SOURCES.includes(v as string) ? undefined : { msg: `Input should be ${SOURCES.map((s) => `'${s}'`).join(', ')}`, type: 'enum' },
  );
  read(
    'base_url',
    (v) =>
      text(v) ??
      ((v as string).length <= MAX_URL ? undefined : { msg: `String should have at most ${MAX_URL} characters`, type: 'string_too_long' }),
    true,
  );
  read('enabled', (v) => (typeof v === 'boolean' ? undefined : { msg: 'Input should be a valid boolean', type: 'bool_parsing' }));
  return patch;
}

/** @throws DomainError 422 `masked_secret`, `validation_error` */
export function assertKey(value: string, path: string[]): void {
  const masked = maskedProblem(value);
  if (masked) throw refuseField('masked_secret', path, masked);
  const problem = keyProblem(value);
  if (problem) throw invalid({ loc: ['body', ...path], ...problem });
}

/** Whether anything is set, and not only cleared. */
export const setsAnything = (patches: Iterable<RoutePatch>): boolean => [...patches].some((p) => Object.values(p).some((v) => v !== null));

/**
 * Semantic refusals that need no secret: unknown slugs, masked keys, keys for routes that spend another's.
 *
 * @throws DomainError 422, under the code of the first, with every problem
 */
export function assertApplicable(patches: Map<string, RoutePatch>, routes: Map<string, Route>): void {
  const found: { code: ErrorCode; path: string[]; msg: string }[] = [];
  for (const [slug, patch] of patches) {
    const route = routes.get(slug);
    if (!route) {
      found.push({ code: 'unknown_reference', path: [slug], msg: `There is no such route. There are: ${[...routes.keys()].join(', ')}.` });
      continue;
    }
    const masked = maskedProblem(patch.api_key);
    if (masked) found.push({ code: 'masked_secret', path: [slug, 'api_key'], msg: masked });
    for (const field of ['api_key', 'credential_source'] as const) {
      if (patch[field] && route.credential_route_id)
        found.push({ code: 'route_borrows_key', path: [slug, field], msg: 'This route spends the key of another route; set it there.' });
    }
  }
  throwAll(found);
}

/** A setting after a patch; the key is judged by its presence only, as it is sealed or about to be. */
export function applyPatch(route: Route, before: RouteSetting | undefined, patch: RoutePatch): RouteSetting {
  const after: RouteSetting = {
    route_id: route.id,
    api_key: before?.api_key ?? null,
    credential_source: before?.credential_source ?? null,
    base_url: before?.base_url ?? null,
    enabled: before?.enabled ?? null,
    ...patch,
  };
  // The address goes with the key that it was for: clearing a key must always be possible.
  if (after.api_key === null && patch.base_url === undefined) after.base_url = null;
  return after;
}

/** @throws DomainError 422 `base_url_needs_own_key`: a platform key never leaves for an address that an organization chose */
export function assertOwnKeys(after: Map<string, RouteSetting>): void {
  const found = [...after].filter(([, s]) => s.base_url !== null && s.api_key === null);
  throwAll(
    found.map(([slug]) => ({
      code: 'base_url_needs_own_key',
      path: [slug, 'base_url'],
      msg: 'Another address needs a key of your own for this route.',
    })),
  );
}

function throwAll(found: { code: ErrorCode; path: string[]; msg: string }[]): void {
  if (!found.length) return;
  const problems = found.map(({ code, path, msg }) => ({ loc: ['body', 'routes', ...path], msg, type: `semantic.${code}` }));
  throw new DomainError(found[0].code, found[0].msg, { problems });
}
