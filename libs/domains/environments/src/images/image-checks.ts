import { Injectable } from '@nestjs/common';
import { ImageTooLarge, SandboxFailed, type SandboxDriver } from '../sandbox/sandbox-driver';
import { probe } from './image-probe';
import { ImageProblem, type ImageCheckName } from './image-problem';
import { isAllowed, normalText, pinned, readReference, type ImageReference } from './image-reference.policy';
import { ImageRegistry, type ResolvedImage } from './image-registry';
import { imagesConfig } from './images.config';
import { PLATFORM } from './manifests';

export interface ImageCheck {
  name: ImageCheckName;
  ok: boolean;
  /** A sentence. */
  detail: string;
}

export interface ImageToCheck {
  /** As it was written. */
  reference: string;
  /** What its plan allows, compressed; null: anything. */
  maxBytes: number | null;
  /** Where it would run; null: nowhere. */
  sandbox: SandboxDriver | null;
  /** Why there is nothing to run it, where somebody knows. */
  problem: string | null;
}

export interface CheckedImage {
  /** In order, up to the first that failed. */
  checks: ImageCheck[];
  /** Of what the reference names now; null where that was not found, or is for another platform. */
  digest: string | null;
  /** Bytes, compressed. */
  size_bytes: number | null;
  /** All were made, and none failed. */
  ok: boolean;
  /** One failed by something else than the image: its registry is away or busy, or the sandbox had no room, or no answer, for it. */
  says_nothing: boolean;
}

type Passed = (name: ImageCheckName, detail: string) => void;

const MIB = 1024 ** 2;
/** So many times what an image may have compressed it may have once it is unpacked: most have two to four times as much. */
const UNPACKED = 5;

/** Looks whether an image can be run: what its registry says of it, and what it does in the sandbox. */
@Injectable()
export class ImageChecks {
  constructor(private readonly registry: ImageRegistry) {}

  /** @throws the reason of the signal; what is wrong with an image is in the answer */
  async check(image: ImageToCheck, signal: AbortSignal): Promise<CheckedImage> {
    const checked: CheckedImage = { checks: [], digest: null, size_bytes: null, ok: false, says_nothing: false };
    const passed: Passed = (name, detail) => checked.checks.push({ name, ok: true, detail });
    try {
      const reference = allowed(image.reference);
      passed('reference', `It names ${normalText(reference)}.`);
      const { digest, sizeBytes } = await this.resolve(reference, signal, passed);
      Object.assign(checked, { digest, size_bytes: sizeBytes });
      passed('size', requireSize(sizeBytes, image.maxBytes));
      const sandbox = runner(image);
      const pin = pinned(reference, digest);
      await asProblem('pull', () => sandbox.pull(pin, signal, image.maxBytes && UNPACKED * image.maxBytes));
      passed('pull', 'It is here.');
      await asProblem('probe', () => probe(sandbox, pin, signal));
      passed('probe', 'It runs commands as it should.');
      checked.ok = true;
    } catch (error) {
      if (!(error instanceof ImageProblem)) throw error;
      // `size` has passed for what is compressed, and fails for what is unpacked: the last word counts.
      checked.checks = checked.checks.filter(({ name }) => name !== error.check);
      checked.checks.push({ name: error.check, ok: false, detail: error.message });
      checked.says_nothing =
        error.check === 'registry' || (error.cause instanceof SandboxFailed && !(error.cause instanceof ImageTooLarge));
    }
    return checked;
  }

  /** A registry is asked for all of this at once: where one fails, those before it have passed. */
  private async resolve(reference: ImageReference, signal: AbortSignal, passed: Passed): Promise<ResolvedImage> {
    const checks: Parameters<Passed>[] = [
      ['registry', `${reference.registry} answers.`],
      ['manifest', 'The registry has the image.'],
      ['platform', `It is made for ${PLATFORM}.`],
    ];
    const passedBefore = (failed?: ImageCheckName) =>
      checks.slice(0, failed && checks.findIndex(([name]) => name === failed)).forEach((check) => passed(...check));
    try {
      const resolved = await this.registry.resolve(reference, signal);
      passedBefore();
      return resolved;
    } catch (error) {
      if (error instanceof ImageProblem) passedBefore(error.check);
      throw error;
    }
  }
}

/** @throws ImageProblem `reference` */
function allowed(written: string): ImageReference {
  const read = readReference(written);
  if ('problem' in read) throw new ImageProblem('reference', read.problem);
  const { registry } = read.reference;
  if (!isAllowed(registry, imagesConfig.value.registries))
    throw new ImageProblem('reference', `Images of ${registry} are not allowed here.`);
  return read.reference;
}

function requireSize(bytes: number, max: number | null): string {
  const size = max === null ? `${sizeText(bytes)}.` : `${sizeText(bytes)} of ${sizeText(max)}.`;
  if (max !== null && bytes > max) throw new ImageProblem('size', `It is larger than the plan allows: ${size}`);
  return size;
}

/** In the unit that suits it, of what is begun: what is too large by a byte must not look as if it were not. */
function sizeText(bytes: number): string {
  const [unit, name] = bytes < 1024 * MIB ? [MIB, 'MiB'] : [1024 * MIB, 'GiB'];
  return `${Math.ceil((bytes / unit) * 10) / 10} ${name}`;
}

function runner({ sandbox, problem }: ImageToCheck): SandboxDriver {
  if (sandbox?.runsImages) return sandbox;
  // Nothing is said of the image by that: it is the probe that there is nothing to make it with.
  throw new ImageProblem('probe', problem ?? 'No container runtime is configured here.');
}

async function asProblem(check: ImageCheckName, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SandboxFailed)) throw error;
    throw new ImageProblem(error instanceof ImageTooLarge ? 'size' : check, error.message, { cause: error });
  }
}
