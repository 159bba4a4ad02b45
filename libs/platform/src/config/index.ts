import { z } from 'zod';

/** One environment variable: its name, the schema of its value, and what it is for (printed into `.env.example`). */
export interface Setting<T = unknown> {
  env: string;
  schema: z.ZodType<T>;
  description: string;
  secret: boolean;
  /** Empty is a value of its own, and not "not set". */
  mayBeEmpty: boolean;
}

/** Declares an environment variable. Values come as strings; use `z.coerce` or the helpers below. */
export function setting<S extends z.ZodType>(
  env: string,
  schema: S,
  description: string,
  { secret = false, mayBeEmpty = false }: { secret?: boolean; mayBeEmpty?: boolean } = {},
): Setting<z.infer<S>> {
  return { env, schema: schema as unknown as z.ZodType<z.infer<S>>, description, secret, mayBeEmpty };
}

/** `true|1|on|yes` and `false|0|off|no`, any case. */
export const flag = (fallback: boolean) =>
  z
    .string()
    .optional()
    .transform((raw, ctx) => {
      if (raw === undefined || raw === '') return fallback;
      if (/^(true|1|on|yes)$/i.test(raw)) return true;
      if (/^(false|0|off|no)$/i.test(raw)) return false;
      ctx.addIssue({ code: 'custom', message: 'must be on or off' });
      return z.NEVER;
    });

/** A whole number within bounds, with a default. */
export const integer = (fallback: number, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number().int().min(min).max(max).default(fallback);

type Shape = Record<string, Setting>;
type Values<S extends Shape> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** A group of settings that one concern reads. */
export interface ConfigSection<S extends Shape = Shape> {
  readonly name: string;
  readonly settings: S;
  /** The parsed values. Throws {@link ConfigError} when read before {@link loadConfig} and the environment is invalid. */
  readonly value: Values<S>;
}

/** What is wrong with the environment, every problem at once. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(
      `The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

const sections = new Map<string, ConfigSection>();
let cache = new Map<string, unknown>();

function parse(section: ConfigSection, env: NodeJS.ProcessEnv): { values: Record<string, unknown>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [key, { env: name, schema, mayBeEmpty }] of Object.entries(section.settings)) {
    // An empty string means "not set": that is what a manifest with an empty value and a shell's `X= cmd` mean.
    const raw = env[name] === '' && !mayBeEmpty ? undefined : env[name];
    const result = schema.safeParse(raw);
    if (result.success) values[key] = result.data;
    // The value itself is never named: it may be a secret.
    else problems.push(`${name}: ${result.error.issues.map((i) => i.message).join('; ')}`);
  }
  return { values, problems };
}

/**
 * Declares a concern's settings. The section becomes part of the application that imports it: it is checked at boot by
 * {@link loadConfig} and listed in `.env.example`.
 */
export function configSection<S extends Shape>(name: string, settings: S): ConfigSection<S> {
  if (sections.has(name)) throw new Error(`Config section ${name} is declared twice.`);
  const section: ConfigSection<S> = {
    name,
    settings,
    get value(): Values<S> {
      let values = cache.get(name);
      if (!values) {
        const result = parse(section as unknown as ConfigSection, process.env);
        if (result.problems.length) throw new ConfigError(result.problems);
        values = result.values;
        cache.set(name, values);
      }
      return values as Values<S>;
    },
  };
  sections.set(name, section as unknown as ConfigSection);
  return section;
}

/** Parses every section that the process has imported; throws one {@link ConfigError} with all problems. Called once at boot. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): void {
  const next = new Map<string, unknown>();
  const problems: string[] = [];
  for (const section of sections.values()) {
    const result = parse(section, env);
    problems.push(...result.problems);
    next.set(section.name, result.values);
  }
  if (problems.length) throw new ConfigError(problems);
  cache = next;
}

/** Every declared section, by name. For the generator of `.env.example` and for the check of the deployment manifests. */
export function declaredSections(): ConfigSection[] {
  return [...sections.values()].sort((a, b) => a.name.localeCompare(b.name));
}
