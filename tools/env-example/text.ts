import type { ConfigSection, Setting } from '@aps/platform/config';

const HEAD = `# Every setting of the service, by the part that reads it. Written by \`npm run env-example\`; do not edit.
#
# A value that is commented out is the default. Copy to .env what differs; \`npm start\` reads it from there. An empty value
# means "not set". Which app needs which secret is said in docs/operations/deploying.md.`;

/** Read by the development stack, not by the service. */
const DEVELOPMENT = `# ---- npm start ----

# Folder for the data, logs, secrets and mail of the development stack.
#APS_DATA_DIR=.data

# 1 takes the Redis written in JavaScript even if redis-server is installed.
#APS_EMBEDDED_REDIS=`;

/** How a default looks in the environment; undefined when there is none. */
function written(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number' || typeof value === 'string') return String(value);
  if (Array.isArray(value) || value instanceof Set) return [...(value as Iterable<unknown>)].join(',');
  throw new Error(`a default of this kind cannot be written: ${Object.prototype.toString.call(value)}`);
}

function entry({ env, schema, description, secret }: Setting): string {
  const empty = schema.safeParse(undefined);
  const fallback = empty.success ? written(empty.data) : undefined;
  if (secret && fallback) throw new Error(`${env} is a secret with a default`);
  const notes = [!empty.success && 'required', secret && 'secret'].filter(Boolean).join(', ');
  return `# ${description}${notes && ` (${notes})`}\n${empty.success ? '#' : ''}${env}=${fallback ?? ''}`;
}

/** The text of `.env.example`. A variable that several sections read stands in the first of them. */
export function envExample(sections: readonly ConfigSection[]): string {
  const seen = new Map<string, string>();
  const parts = [HEAD];
  for (const section of sections) {
    const own: string[] = [];
    for (const setting of Object.values(section.settings)) {
      const text = entry(setting);
      const value = text.slice(text.lastIndexOf('\n'));
      if (!seen.has(setting.env)) own.push(text);
      else if (seen.get(setting.env) !== value)
        throw new Error(`${setting.env} has two defaults; the second is that of the section ${section.name}`);
      seen.set(setting.env, value);
    }
    if (own.length) parts.push(`# ---- ${section.name} ----`, ...own);
  }
  return `${[...parts, DEVELOPMENT].join('\n\n')}\n`;
}
