import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Egress, EgressError, type EgressResponse } from '@aps/platform/egress';
import { Cutoff } from '@aps/platform/signals';
import { ImageProblem } from './image-problem';
import { apiHost, type ImageReference } from './image-reference.policy';
import { ACCEPTED, manifestFor, PLATFORM, readManifest, requireNoVolumes, requirePlatform, sizeOf, type Manifest } from './manifests';
import { readToken, tokenAddress } from './registry-token';

/** What a registry says of an image. */
export interface ResolvedImage {
  /** Of the document that the reference names, be it an index or a manifest: what pins the image. */
  digest: string;
  /** Bytes that are transferred for it. */
  sizeBytes: number;
  platform: string;
}

const TIME_MS = 30_000;
const MIB = 1024 * 1024;
const MAX_MANIFEST = 4 * MIB;
const MAX_CONFIG = 8 * MIB;
const MAX_TOKEN = MIB / 16;

const NO_ACCESS = 'The registry does not give the image to everybody. Images are pulled without credentials, so it must be public.';

/** Asks registries for images over their HTTP API, without credentials. */
@Injectable()
export class ImageRegistry {
  constructor(private readonly egress: Egress) {}

  /**
   * Finds an image, and checks what the registry says of it against the digests; no layer is fetched. At most 30 s.
   *
   * @throws ImageProblem; the reason of the signal
   */
  async resolve(reference: ImageReference, signal: AbortSignal): Promise<ResolvedImage> {
    const cut = new Cutoff(signal, TIME_MS);
    try {
      return await this.read(reference, new Visit(this.egress, reference, cut.signal));
    } catch (error) {
      if (cut.isLate) throw new ImageProblem('registry', `The registry did not answer within ${TIME_MS / 1_000} s.`, { cause: error });
      signal.throwIfAborted();
      throw error;
    } finally {
      cut.release();
    }
  }

  private async read({ tag, digest: wanted }: ImageReference, visit: Visit): Promise<ResolvedImage> {
    const named = await visit.manifest(wanted ?? tag ?? 'latest');
    const digest = digestOf(named.body);
    const said = named.headers['docker-content-digest'] ?? digest;
    if (digest !== (wanted ?? digest) || digest !== said) throw wrongDigest();

    const read = readManifest(named.body, named.headers['content-type']);
    const image = 'manifest' in read ? read.manifest : await this.within(manifestFor(read.index), visit);
    const config = checked(await visit.blob(image.config.digest), image.config.digest);
    requirePlatform(config);
    requireNoVolumes(config);
    return { digest, sizeBytes: sizeOf(image), platform: PLATFORM };
  }

  private async within(digest: string, visit: Visit): Promise<Manifest> {
    const { body, headers } = await visit.manifest(digest);
    const read = readManifest(checked(body, digest), headers['content-type']);
    if ('index' in read) throw new ImageProblem('manifest', 'The image is an index of indexes, which is not read here.');
    return read.manifest;
  }
}

/** The requests for one image: what was learned of its registry by the first holds for the next. */
class Visit {
  private readonly host: string;
  private origin?: string;
  private token?: string;

  constructor(
    private readonly egress: Egress,
    private readonly reference: ImageReference,
    private readonly signal: AbortSignal,
  ) {
    this.host = apiHost(reference.registry);
  }

  /** No registry has to send elsewhere for a manifest. */
  manifest(name: string): Promise<EgressResponse> {
    return this.get(`manifests/${name}`, { maxBytes: MAX_MANIFEST, maxRedirects: 0, headers: { accept: ACCEPTED } });
  }

  /** Where they lie, they are fetched without the registry's token. */
  async blob(digest: string): Promise<Buffer> {
    return (await this.get(`blobs/${digest}`, { maxBytes: MAX_CONFIG })).body;
  }

  private async get(path: string, init: Sent): Promise<EgressResponse> {
    const ask = () =>
      this.ask(path, { ...init, headers: { ...init.headers, ...(this.token && { authorization: `Bearer ${this.token}` }) } });
    let answer = await ask();
    if (answer.status === 401 && !this.token) {
      this.token = await this.fetchToken(answer.headers['www-authenticate'] ?? '');
      answer = await ask();
    }
    return orRefused(answer);
  }

  /** A registry is asked over http where nothing answers to https, and it is one that an operator vouches for. */
  private async ask(path: string, init: Sent): Promise<EgressResponse> {
    const at = (origin: string) => this.fetch(`${origin}/v2/${this.reference.repository}/${path}`, init);
    if (this.origin) return at(this.origin).catch(asProblem);
    try {
      const answer = await at(`https://${this.host}`);
      this.origin = `https://${this.host}`;
      return answer;
    } catch (error) {
      const isPlain = error instanceof EgressError && (error.reason === 'connect' || error.reason === 'address');
      if (!isPlain || error.afterRedirect) return asProblem(error);
      const answer = await at(`http://${this.host}`).catch((second: unknown) =>
        asProblem(second instanceof EgressError && second.reason === 'scheme' ? error : second),
      );
      this.origin = new URL(`http://${this.host}`).origin;
      return answer;
    }
  }

  private async fetchToken(challenge: string): Promise<string> {
    const address = tokenAddress(challenge, this.origin!, this.reference.repository);
    if (!address) throw new ImageProblem('manifest', NO_ACCESS);
    return readToken(orRefused(await this.fetch(address, { maxBytes: MAX_TOKEN, maxRedirects: 0 }).catch(asProblem)).body);
  }

  private fetch(url: string, init: Sent): Promise<EgressResponse> {
    return this.egress.fetch(url, { ...init, purpose: 'image', signal: this.signal });
  }
}

type Sent = Pick<Parameters<Egress['fetch']>[1], 'headers' | 'maxBytes' | 'maxRedirects'>;

/** @throws ImageProblem where an answer is not what was asked for */
function orRefused(answer: EgressResponse): EgressResponse {
  const { status } = answer;
  if (status === 200) return answer;
  if (status === 401 || status === 403) throw new ImageProblem('manifest', NO_ACCESS);
  if (status === 404) throw new ImageProblem('manifest', 'The registry has no such image.');
  if (status === 429) throw new ImageProblem('registry', 'The registry has had too many requests from here. Try again later.');
  throw new ImageProblem('registry', `The registry answered with status ${status}.`);
}

function asProblem(error: unknown): never {
  if (!(error instanceof EgressError)) throw error;
  if (error.reason === 'too_large') throw new ImageProblem('manifest', 'What describes the image is too large.', { cause: error });
  if (error.refused) throw new ImageProblem('registry', `The registry cannot be asked. ${error.message}`, { cause: error });
  throw new ImageProblem('registry', 'The registry does not answer.', { cause: error });
}

function checked(body: Buffer, digest: string): Buffer {
  if (digestOf(body) !== digest) throw wrongDigest();
  return body;
}

const digestOf = (body: Buffer): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

const wrongDigest = () => new ImageProblem('manifest', 'What the registry has there is not what its digest says.');
