import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Egress, EgressError, jsonOf, type EgressResponse } from '@aps/platform/egress';
import { kubernetesConfig } from './kubernetes.config';

/** Of what an object of the cluster says of itself, what is looked at. */
export interface Metadata {
  name: string;
  uid: string;
  resourceVersion: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}
export interface KubernetesObject {
  metadata: Metadata;
}

/** The kinds of objects that sandboxes are made of. */
export type Kind = 'pods' | 'persistentvolumeclaims';

/** The cluster refused something, or did not answer: then the status is 0. */
export class KubernetesRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const NOT_FOUND = 404;
export const CONFLICT = 409;

const TIME_MS = 15_000;
const PAGE = 500;
const OF_METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Talks to the API of the cluster as the service account of this process, about objects of the namespace of sandboxes. */
export class KubernetesApi {
  private egress?: Egress;
  private clock?: { server: number; here: number };

  /** What objects say of time is compared with this: the clock of the API, in milliseconds. */
  now(): number {
    return this.clock ? this.clock.server + performance.now() - this.clock.here : Date.now();
  }

  /** @throws KubernetesRefused */
  create<T>(kind: Kind, object: object): Promise<T> {
    return this.send('POST', this.place(kind), { body: object });
  }

  get<T>(kind: Kind, name: string): Promise<T> {
    return this.send('GET', this.place(kind, name));
  }

  /** Writes annotations. @throws KubernetesRefused 404 */
  annotate<T>(kind: Kind, name: string, annotations: Record<string, string>): Promise<T> {
    return this.send('PATCH', this.place(kind, name), { body: { metadata: { annotations } }, type: 'application/merge-patch+json' });
  }

  /**
   * At once, and without an error where it is not there any more.
   *
   * @param only that very object, or that very state of it; else {@link CONFLICT}
   */
  async remove(kind: Kind, name: string, only: { uid?: string; resourceVersion?: string } = {}): Promise<void> {
    await this.send('DELETE', this.place(kind, name), { body: { gracePeriodSeconds: 0, preconditions: only } }).catch((error: unknown) => {
      if (!(error instanceof KubernetesRefused && error.status === NOT_FOUND)) throw error;
    });
  }

  async removeAll(kind: Kind, labelSelector: string): Promise<void> {
    await this.send('DELETE', this.place(kind), { query: { labelSelector }, body: { gracePeriodSeconds: 0 } });
  }

  /** What all objects with these labels say of themselves. */
  async list(kind: Kind, labelSelector: string): Promise<Metadata[]> {
    const found: Metadata[] = [];
    let next: string | undefined;
    do {
      const query = { labelSelector, limit: String(PAGE), ...(next && { continue: next }) };
      const page = await this.send<{ items: KubernetesObject[]; metadata: { continue?: string } }>('GET', this.place(kind), {
        query,
        accept: OF_METADATA,
      });
      found.push(...page.items.map(({ metadata }) => metadata));
      next = page.metadata.continue;
    } while (next);
    return found;
  }

  /** Whether this process may make something in the namespace; else why not, where the cluster says so. */
  async may(verb: string, resource: Kind, subresource?: string): Promise<{ allowed: boolean; reason?: string }> {
    const { namespace } = kubernetesConfig.value;
    const review = await this.send<{ status: { allowed: boolean; reason?: string } }>(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      {
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { namespace, verb, resource, subresource } },
        },
      },
    );
    return review.status;
  }

  /** Where a command is run in a pod, and what opens a WebSocket there. */
  async execAddress(
    pod: string,
    argv: readonly string[],
    hasStdin: boolean,
  ): Promise<{ url: string; headers: Record<string, string>; ca?: string }> {
    const url = new URL(`${this.place('pods', pod)}/exec`, kubernetesConfig.value.api);
    for (const part of argv) url.searchParams.append('command', part);
    for (const [name, value] of Object.entries({ stdin: hasStdin, stdout: true, stderr: true })) url.searchParams.set(name, String(value));
    const { token, ca } = await credentials();
    return { url: url.href.replace(/^http/, 'ws'), headers: { authorization: `Bearer ${token}` }, ca };
  }

  private place(kind: Kind, name?: string): string {
    return `/api/v1/namespaces/${kubernetesConfig.value.namespace}/${kind}${name === undefined ? '' : `/${name}`}`;
  }

  private async send<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', place: string, { query, body, type, accept }: Sent = {}): Promise<T> {
    const { token, ca } = await credentials();
    // The cluster has an authority of its own.
    this.egress ??= new Egress({ ca });
    const url = new URL(place, kubernetesConfig.value.api);
    url.search = new URLSearchParams(query).toString();
    const answer = await this.egress
      .fetch(url.href, {
        purpose: 'platform',
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: accept ?? 'application/json',
          ...(body && { 'content-type': type ?? 'application/json' }),
        },
        body: body && JSON.stringify(body),
        timeoutMs: TIME_MS,
        maxRedirects: 0,
      })
      .catch((error: unknown) => {
        if (!(error instanceof EgressError)) throw error;
        throw new KubernetesRefused(0, 'The API of the cluster does not answer.', { cause: error });
      });
    const date = Date.parse(answer.headers.date);
    if (!Number.isNaN(date)) this.clock = { server: date, here: performance.now() };
    return read(answer) as T;
  }
}

interface Sent {
  query?: Record<string, string>;
  body?: object;
  type?: string;
  accept?: string;
}

/** Tokens are renewed on disk. @throws KubernetesRefused where there are none */
async function credentials(): Promise<{ token: string; ca?: string }> {
  const file = (name: string) => readFile(path.join(kubernetesConfig.value.credentials, name), 'utf8');
  try {
    const [token, ca] = await Promise.all([file('token'), file('ca.crt').catch(() => undefined)]);
    return { token: token.trim(), ca };
  } catch (error) {
    throw new KubernetesRefused(0, 'There is no token of a service account to ask the API of the cluster by.', { cause: error });
  }
}

function read(response: EgressResponse): unknown {
  const { status } = response;
  // Without JSON it is not of the API, but of something that stands before it.
  const said = (jsonOf(response) ?? {}) as { message?: string };
  if (status < 200 || status > 299)
    throw new KubernetesRefused(status, said.message ?? `The API of the cluster answered with status ${status}.`);
  return said;
}
