import { covers, type ToolGrants } from '@aps/tools';

/** What the scope of a template begins with; its slug follows. */
const SCOPE = 'prompt:';

type Grants = Pick<ToolGrants, 'allowed_tools' | 'denied_tools'>;

/** Slugs of the templates that are granted by name. */
export const namedPrompts = ({ allowed_tools }: Pick<Grants, 'allowed_tools'>): string[] =>
  allowed_tools.flatMap((scope) => (scope.startsWith(SCOPE) ? [scope.slice(SCOPE.length)] : []));

/** Whether an agent may run templates at all. */
export const mayRunPrompts = (grants: Pick<Grants, 'allowed_tools'>): boolean =>
  grants.allowed_tools.includes('*') || namedPrompts(grants).length > 0;

/** Whether an agent may run a template: by the scope `prompt:{slug}` or by `*`, and not where either is denied. */
export const reachesPrompt = ({ allowed_tools, denied_tools }: Grants, slug: string): boolean =>
  !covers(denied_tools, `${SCOPE}${slug}`) && covers(allowed_tools, `${SCOPE}${slug}`);
