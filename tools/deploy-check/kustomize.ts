import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/*
 * Renders a kustomization as `kubectl kustomize` does, so that what is deployed can be checked where kubectl is not installed. It
 * knows what the manifests of this repository use and refuses the rest; where kubectl is on PATH, a test holds the two against
 * each other; elsewhere a line of the report, and one at the end of CI, says that nobody has.
 */

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
export type Fields = { [key: string]: Value };

export interface Resource extends Fields {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

interface Target {
  kind?: string;
  name?: string;
  labelSelector?: string;
}

interface Kustomization {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  resources?: string[];
  components?: string[];
  patches?: { path?: string; patch?: string; target?: Target }[];
  images?: { name: string; newName?: string; newTag?: string; digest?: string }[];
  configMapGenerator?: {
    name: string;
    behavior?: string;
    envs?: string[];
    files?: string[];
    options?: { labels?: Record<string, string> };
  }[];
}

const KNOWN = ['apiVersion', 'kind', 'namespace', 'resources', 'components', 'patches', 'images', 'configMapGenerator'];
const CLUSTER_KINDS = ['Namespace'];

/** What tells the items of a list apart, by the name of the list. Any other list is replaced as a whole. */
const LIST_KEYS: Record<string, string> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
  topologySpreadConstraints: 'topologyKey',
};

const isFields = (value: Value | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A strategic merge: fields are merged, null removes one, lists with a key are merged item by item. */
export function merge(base: Value | undefined, patch: Value, name = ''): Value {
  if (isFields(base) && isFields(patch)) {
    const result: Fields = { ...base };
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) delete result[key];
      else result[key] = merge(base[key], value, key);
    }
    return result;
  }
  const key = LIST_KEYS[name];
  if (key && Array.isArray(base) && Array.isArray(patch) && [...base, ...patch].every((item) => isFields(item) && key in item)) {
    const old = base as Fields[];
    const fresh = patch as Fields[];
    const kept = old.map((item) => {
      const change = fresh.find((other) => other[key] === item[key]);
      return change ? merge(item, change) : item;
    });
    return [...kept, ...fresh.filter((item) => !old.some((other) => other[key] === item[key]))];
  }
  return patch;
}

// YAML anchors give two places one object: copied, so that a change of one is none of the other.
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const documents = (text: string): Resource[] =>
  parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length) throw document.errors[0];
      return copy(document.toJS() as Resource);
    })
    .filter(Boolean);

function kustomizationOf(folder: string): Kustomization {
  const file = path.join(folder, 'kustomization.yaml');
  const content = parse(readFileSync(file, 'utf8')) as Kustomization;
  const unknown = Object.keys(content).filter((field) => !KNOWN.includes(field));
  if (unknown.length) throw new Error(`${file} uses ${unknown.join(', ')}, which tools/deploy-check/kustomize.ts does not know yet.`);
  return content;
}

function selects(target: Target, { kind, metadata }: Resource): boolean {
  const is = (pattern: string | undefined, value: string) => pattern === undefined || new RegExp(`^(${pattern})$`).test(value);
  const [label, wanted] = target.labelSelector?.split('=') ?? [];
  return is(target.kind, kind) && is(target.name, metadata.name) && (label === undefined || metadata.labels?.[label] === wanted);
}

function applyPatches(folder: string, patches: NonNullable<Kustomization['patches']>, resources: Resource[]): Resource[] {
  let result = resources;
  for (const { path: file, patch, target } of patches) {
    for (const change of documents(patch ?? readFileSync(path.join(folder, file ?? ''), 'utf8'))) {
      const chosen = result.filter((resource) => selects(target ?? { kind: change.kind, name: change.metadata.name }, resource));
      // With a target a patch may well find nothing: a component is for whoever uses it.
      if (!chosen.length && !target) throw new Error(`${folder}: the patch ${file ?? change.kind} finds nothing to change.`);
      if (change.$patch === 'delete') {
        result = result.filter((resource) => !chosen.includes(resource));
        continue;
      }
      const { apiVersion: _version, kind: _kind, metadata, ...rest } = change;
      const { name: _name, namespace: _namespace, ...labels } = metadata;
      const body: Fields = { ...rest, ...(Object.keys(labels).length > 0 && { metadata: labels as Fields }) };
      result = result.map((resource) => (chosen.includes(resource) ? (merge(resource, body) as Resource) : resource));
    }
  }
  return result;
}

/** Reads below a resource by a path of fields. */
export const dig = <T>(from: unknown, ...keys: (string | number)[]): T =>
  keys.reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], from) as T;

/** Every pod that a set of resources describes. */
export const podOf = (resource: Resource): Fields | undefined => {
  const spec = resource.spec as { template?: { spec?: Fields }; jobTemplate?: { spec: { template: { spec: Fields } } } } | undefined;
  return spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec;
};

export const containersOf = (resource: Resource): Fields[] => {
  const pod = podOf(resource);
  return pod ? [...((pod.initContainers as Fields[]) ?? []), ...(pod.containers as Fields[])] : [];
};

function setImages(images: NonNullable<Kustomization['images']>, resources: Resource[]): void {
  for (const container of resources.flatMap(containersOf)) {
    const [, name, tag] = /^(.+?)(:[^:/]+)?$/.exec(container.image as string) ?? [];
    const image = images.find((candidate) => candidate.name === name);
    if (image)
      container.image = `${image.newName ?? name}${image.digest ? `@${image.digest}` : image.newTag ? `:${image.newTag}` : (tag ?? '')}`;
  }
}

function variables(folder: string, files: string[] = []): Record<string, string> {
  const lines = files
    .flatMap((file) => readFileSync(path.join(folder, file), 'utf8').split('\n'))
    .filter((line) => line.trim() && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

function apply(folder: string, before: Resource[]): Resource[] {
  const { namespace, resources = [], components = [], patches = [], images = [], configMapGenerator = [] } = kustomizationOf(folder);
  let result = [...before];
  for (const entry of resources) {
    const at = path.join(folder, entry);
    if (!existsSync(at)) throw new Error(`${folder}/kustomization.yaml names ${entry}, which does not exist.`);
    result.push(...(statSync(at).isDirectory() ? apply(at, []) : documents(readFileSync(at, 'utf8'))));
  }
  for (const { name, behavior, envs, files = [], options } of configMapGenerator) {
    const data = {
      ...variables(folder, envs),
      ...Object.fromEntries(files.map((file) => [path.basename(file), readFileSync(path.join(folder, file), 'utf8')])),
    };
    const known = result.find((resource) => resource.kind === 'ConfigMap' && resource.metadata.name === name);
    if (Boolean(known) !== (behavior === 'merge'))
      throw new Error(`${folder}: the ConfigMap ${name} ${known ? 'exists already' : 'does not exist'}.`);
    if (known) Object.assign(known.data as Fields, data);
    else result.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...(options?.labels && { labels: options.labels }) }, data });
  }
  for (const component of components) result = apply(path.join(folder, component), result);
  result = applyPatches(folder, patches, result);
  if (namespace) for (const { kind, metadata } of result) if (!CLUSTER_KINDS.includes(kind)) metadata.namespace = namespace;
  setImages(images, result);
  return result;
}

/** The resources that a kustomization renders to, with components that it leaves out. Names of ConfigMaps stand without their hash. */
export const render = (folder: string, ...components: string[]): Resource[] =>
  components.reduce((resources, component) => apply(component, resources), apply(folder, [])).map(copy);
