import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RUN_KINDS } from '@aps/contracts';
import { parse } from 'yaml';

export const root = path.resolve(__dirname, '../..');
export const at = (...parts: string[]): string => path.join(root, ...parts);
export const read = (file: string): string => readFileSync(at(file), 'utf8');

/** The deployables of a checkout: every app with a project, except the suites of tests. */
export const appsOf = (checkout: string): string[] =>
  readdirSync(path.join(checkout, 'apps')).filter(
    (name) => !name.endsWith('-e2e') && existsSync(path.join(checkout, 'apps', name, 'project.json')),
  );
export const APPS = appsOf(root);

/** The apps that listen for requests, as their definition says; the others only consume queues. */
export const HTTP_APPS = APPS.filter((name) => /\bhttp:/.test(read(`apps/${name}/src/main.ts`)));

/** Those that carry out runs: they drain before they end, and call models. */
export const RUN_APPS: string[] = [...new Set(Object.values(RUN_KINDS).map(({ app }) => app))];

/** Those of the ones that listen that sign who calls, or verify it. */
export const INTERNAL_APPS = HTTP_APPS.filter((name) => read(`apps/${name}/src/app.module.ts`).includes('InternalCallerModule'));

/** Read by Node itself or by the images of others, not by our configuration. */
export const FOREIGN_VARIABLES = ['NODE_OPTIONS', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_PASSWORD_FILE', 'POSTGRES_DB'];

export interface Instruction {
  name: string;
  args: string;
  stage: string;
}

/** The instructions of a Dockerfile, lines joined and comments removed, each with the stage it belongs to. */
export function dockerfile(file = 'docker/Dockerfile'): Instruction[] {
  const lines = read(file)
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'));
  let stage = '';
  return lines
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim())
    .map((line) => {
      const [, name, args] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      if (!name) throw new Error(`${file}: cannot read the line ${line}`);
      if (name === 'FROM') stage = / AS (\S+)$/.exec(args)?.[1] ?? args;
      return { name, args: args.trim(), stage };
    });
}

export interface ComposeService {
  image?: string;
  build?: { context: string; dockerfile: string; args: Record<string, string> };
  command?: string[];
  /** null: taken over from where compose runs, if it is set there. */
  environment?: Record<string, string | null>;
  env_file?: unknown;
  ports?: string[];
  networks?: string[];
  network_mode?: string;
  volumes?: string[];
  profiles?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  init?: boolean;
  stop_grace_period?: string;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
}

export const compose = (): { services: Record<string, ComposeService>; networks: Record<string, { internal?: boolean }> } =>
  parse(read('docker/compose.yaml'), { merge: true }) as ReturnType<typeof compose>;
