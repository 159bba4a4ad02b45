import { z } from 'zod';

/** What names an image, by the grammar of registries. */
export interface ImageReference {
  /** Host, and port where one is written; in lower case. */
  registry: string;
  /** Path within the registry. */
  repository: string;
  tag: string | null;
  /** `sha256:` and 64 hexadecimal digits; wins over the tag. */
  digest: string | null;
}

export type ReadReference = { reference: ImageReference } | { problem: string };

const MAX_LENGTH = 512;
/** Of a path, as registries have it. */
const MAX_REPOSITORY = 255;
const DOCKER_HUB = 'docker.io';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = `${LABEL}(?:\\.${LABEL})*`;
const HOST = new RegExp(`^(?:${NAME}|\\[[0-9a-f:.]+\\])(?::(\\d{1,5}))?$`);
const WILDCARD = new RegExp(`^\\*\\.${NAME}$`);
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[a-f0-9]{64}$/;

/**
 * Reads `[host[:port]/]path[:tag][@sha256:…]`. Without a host it is of Docker Hub, where a single name is one of `library`.
 *
 * @returns a problem, as a sentence, where it is none
 */
export function readReference(written: string): ReadReference {
  if (written.length > MAX_LENGTH) return { problem: `A reference has at most ${MAX_LENGTH} characters.` };
  const [named, digest, ...more] = written.split('@');
  if (more.length || (digest !== undefined && !DIGEST.test(digest)))
    return { problem: 'The digest must be sha256: and 64 digits of 0-9 and a-f.' };

  const { host, rest } = splitHost(named);
  const registry = host?.toLowerCase() ?? DOCKER_HUB;
  if (!isHost(registry)) return { problem: 'The registry must be a host, or host:port.' };

  const colon = rest.indexOf(':');
  const path = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? null : rest.slice(colon + 1);
  if (tag !== null && !TAG.test(tag)) return { problem: 'The tag must be up to 128 letters, digits, dots, hyphens and underscores.' };
  if (!REPOSITORY.test(path) || path.length > MAX_REPOSITORY)
    return { problem: 'The name must be of lower case letters and digits, which dots, hyphens, underscores and slashes part.' };
  return { reference: { ...ofHub(registry, path), tag, digest: digest ?? null } };
}

/** What stands before the first slash is a host where it looks like one, as Docker has it. */
function splitHost(named: string): { host?: string; rest: string } {
  const slash = named.indexOf('/');
  const first = named.slice(0, Math.max(slash, 0));
  const isFirstHost = /[.:A-Z]/.test(first) || first === 'localhost';
  return isFirstHost ? { host: first, rest: named.slice(slash + 1) } : { rest: named };
}

function ofHub(registry: string, path: string): Pick<ImageReference, 'registry' | 'repository'> {
  const isHub = registry === DOCKER_HUB || registry === `index.${DOCKER_HUB}`;
  return isHub ? { registry: DOCKER_HUB, repository: path.includes('/') ? path : `library/${path}` } : { registry, repository: path };
}

function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return !!match && Number(match[1] ?? 1) >= 1 && Number(match[1] ?? 1) <= 65_535;
}

/** The one spelling of a reference. */
export const normalText = ({ registry, repository, tag, digest }: ImageReference): string =>
  `${registry}/${repository}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`;

/** Names these bytes alone, whatever its tag comes to mean. */
export const pinned = ({ registry, repository }: ImageReference, digest: string): string => `${registry}/${repository}@${digest}`;

/** Where a registry is asked; that of Docker Hub has another name than its images say. */
export const apiHost = (registry: string): string => (registry === DOCKER_HUB ? 'registry-1.docker.io' : registry);

/** Whether images of a registry may be run. An entry means exactly its host and port; `*.` stands for one or more labels. */
export const isAllowed = (registry: string, list: readonly string[]): boolean =>
  list.some((entry) => (entry.startsWith('*.') ? registry.endsWith(entry.slice(1)) : registry === entry));

/** A list of registries as an operator writes it: `host`, `host:port` or `*.host`, separated by commas. */
export const registryList = z.string().transform((raw, ctx) => {
  const entries = raw
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter(Boolean);
  if (entries.every((entry) => isHost(entry) || WILDCARD.test(entry))) return entries;
  ctx.addIssue({ code: 'custom', message: 'must be host, host:port or *.host, several separated by commas' });
  return z.NEVER;
});
