import { covers, type ToolGrants } from '@aps/tools';

/** What the scope of a base begins with, its slug follows; and what that ends with where it may be written to as well. */
const SCOPE = 'kb:';
const WRITE = ':write';

type Grants = Pick<ToolGrants, 'allowed_tools' | 'denied_tools' | 'knowledge_base_ids'>;
/** What of a base decides. */
interface Base {
  id: string;
  slug: string;
}

/** Slugs of the bases that are granted by name, for whatever. */
export const namedBases = ({ allowed_tools }: Pick<Grants, 'allowed_tools'>): string[] =>
  allowed_tools.flatMap((scope) => (scope.startsWith(SCOPE) ? [scope.slice(SCOPE.length).replace(WRITE, '')] : []));

/** Whether all bases of the organization are granted, and none of them is denied. */
export const readsAll = ({ allowed_tools, denied_tools }: Pick<Grants, 'allowed_tools' | 'denied_tools'>): boolean =>
  allowed_tools.includes('*') && !denied_tools.some((scope) => scope === '*' || (scope.startsWith(SCOPE) && !scope.endsWith(WRITE)));

/** Whether an agent may read bases at all. */
export const mayRead = (grants: Pick<Grants, 'allowed_tools' | 'knowledge_base_ids'>): boolean =>
  grants.allowed_tools.includes('*') || grants.knowledge_base_ids.length > 0 || namedBases(grants).length > 0;

/** Whether an agent may write to bases at all. */
export const mayWrite = ({ allowed_tools }: Pick<Grants, 'allowed_tools'>): boolean =>
  allowed_tools.some((scope) => scope === '*' || (scope.startsWith(SCOPE) && scope.endsWith(WRITE)));

/** By its id, by `kb:{slug}`, by what grants writing, or by `*`; and not where it is denied. */
export function readsBase({ allowed_tools, denied_tools, knowledge_base_ids }: Grants, { id, slug }: Base): boolean {
  const scope = `${SCOPE}${slug}`;
  return !covers(denied_tools, scope) && (knowledge_base_ids.includes(id) || covers(allowed_tools, scope, `${scope}${WRITE}`));
}

/** By `kb:{slug}:write` or by `*`; and not where it is denied, or reading it is. */
export function writesBase(
  { allowed_tools, denied_tools }: Pick<Grants, 'allowed_tools' | 'denied_tools'>,
  { slug }: Pick<Base, 'slug'>,
): boolean {
  const scope = `${SCOPE}${slug}`;
  return !covers(denied_tools, scope, `${scope}${WRITE}`) && covers(allowed_tools, `${scope}${WRITE}`);
}
