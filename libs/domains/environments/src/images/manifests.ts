import { jsonOf } from '@aps/platform/egress';
import { z } from 'zod';
import { ImageProblem } from './image-problem';

export const PLATFORM = 'linux/amd64';

const INDEX_TYPES = ['application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json'];
const MANIFEST_TYPES = ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.docker.distribution.manifest.v2+json'];
export const ACCEPTED = [...INDEX_TYPES, ...MANIFEST_TYPES].join(', ');

/** Of one layer, bytes. */
const MAX_SIZE = 2 ** 40;

/** What a document says of another one: where it is found, and how many bytes it has. */
const descriptor = z.object({ digest: z.string().regex(/^sha256:[a-f0-9]{64}$/), size: z.int().min(0).max(MAX_SIZE) });
const platform = z.object({ architecture: z.string(), os: z.string(), variant: z.string().optional() });
const indexShape = z.object({ manifests: z.array(descriptor.extend({ platform: platform.optional() })), layers: z.never().optional() });
const manifestShape = z.object({ config: descriptor, layers: z.array(descriptor), manifests: z.never().optional() });

export type Manifest = z.infer<typeof manifestShape>;
export type Index = z.infer<typeof indexShape>;

/**
 * Reads what a registry has under a reference. A document that could be read as either kind is refused: whoever pulls it might read it
 * as the other.
 *
 * @param contentType of the answer, where the document itself says nothing
 * @throws ImageProblem `manifest`
 */
export function readManifest(body: Buffer, contentType = ''): { index: Index } | { manifest: Manifest } {
  const document = jsonOf({ body });
  const type = (document as { mediaType?: unknown } | null | undefined)?.mediaType ?? contentType.split(';')[0].trim();
  if (INDEX_TYPES.includes(type as string)) return { index: shaped(indexShape, document) };
  if (MANIFEST_TYPES.includes(type as string)) return { manifest: shaped(manifestShape, document) };
  throw new ImageProblem('manifest', 'What the registry has there is no image of a kind that is run here.');
}

/**
 * The digest of the manifest for the platform that images run on here. One without a variant comes first: others may want a newer processor.
 *
 * @throws ImageProblem `platform`
 */
export function manifestFor({ manifests }: Index): string {
  const fitting = manifests.filter(({ platform: of }) => of && nameOf(of) === PLATFORM);
  const found = fitting.find(({ platform: of }) => !of!.variant) ?? fitting[0];
  if (!found) throw new ImageProblem('platform', `The image is not made for ${PLATFORM}.`);
  return found.digest;
}

/** @throws ImageProblem `platform`, where the configuration of an image says that it is for another, or nothing */
export function requirePlatform(config: Buffer): void {
  const read = platform.safeParse(jsonOf({ body: config }));
  if (!read.success) throw new ImageProblem('platform', 'The image does not say what platform it is made for.');
  if (nameOf(read.data) !== PLATFORM)
    throw new ImageProblem('platform', `The image is made for ${shown(nameOf(read.data))}, not for ${PLATFORM}.`);
}

/**
 * Whoever runs an image makes a folder of each volume that it declares, on the disk of the machine, which nothing bounds. Its keys count however they
 * are spelt, and wherever they stand: who reads the configuration as Go does takes any case, and of a key that stands twice both.
 *
 * @throws ImageProblem `manifest`
 */
export function requireNoVolumes(config: Buffer): void {
  for (const [, text, filled] of config.toString('utf8').matchAll(STRINGS))
    if (filled !== undefined && String(JSON.parse(text)).toUpperCase() === 'VOLUMES')
      throw new ImageProblem('manifest', 'The image declares volumes, which sandboxes do not have: it must be built without `VOLUME`.');
}

/** Strings of a JSON text, one after the other, and whether one is the key of an object that is not empty. */
const STRINGS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:\s*(?=\{\s*"))?/g;

/** Bytes that are transferred for an image: its compressed layers, and its configuration. */
export const sizeOf = ({ config, layers }: Manifest): number => layers.reduce((sum, { size }) => sum + size, config.size);

const nameOf = ({ os, architecture }: z.infer<typeof platform>): string => `${os}/${architecture}`;

/** A word of an image's, which may say anything. */
const shown = (word: string): string => (/^[\w./-]{1,64}$/.test(word) ? word : 'another platform');

function shaped<T>(shape: z.ZodType<T>, document: unknown): T {
  const read = shape.safeParse(document);
  if (!read.success) throw new ImageProblem('manifest', 'What the registry has there is not what a manifest of an image must be.');
  return read.data;
}
