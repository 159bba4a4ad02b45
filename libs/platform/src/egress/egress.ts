import { Global, Injectable, Module, OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Agent, type Dispatcher } from 'undici';
import { guardedConnector, type Dial } from './connector';
import { egressConfig } from './egress.config';
import { guardedFetch, type EgressRequest, type EgressResponse } from './fetch';
import { EgressError, EgressPolicy, parseAddress, type EgressPurpose, type Resolve } from './policy';
import { streamingFetch, type FetchLike } from './streaming-fetch';

/** Replacements for tests. */
export interface EgressOptions {
  resolve?: Resolve;
  dial?: Dial;
  ca?: string;
}

/** Of a model's answer, bytes: a stream may be long. Its times are bounded by the model client, which tells signs of life from an answer. */
const INFERENCE = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: 256 * 1024 * 1024 };

/**
 * The way out. Everything whose address a tenant can choose goes through here; no other HTTP client is imported anywhere.
 *
 * Proxies of the environment are not used: behind one, the address that is checked would not be the one that is reached.
 */
@Injectable()
export class Egress implements OnApplicationShutdown {
  private readonly dispatchers = new Map<EgressPurpose, Agent>();
  private readonly policies = new Map<EgressPurpose, EgressPolicy>();

  constructor(private readonly options: EgressOptions = {}) {}

  /**
   * A dispatcher for `undici.request(url, {dispatcher})`: it refuses to connect to what the purpose may not reach. It follows no
   * redirects. A refusal rejects the request with {@link EgressError}.
   */
  dispatcherFor({ purpose }: { purpose: EgressPurpose }): Dispatcher {
    let agent = this.dispatchers.get(purpose);
    if (!agent) {
      const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, maxBytes } = egressConfig.value;
      const model = purpose === 'inference' || purpose === 'platform';
      agent = new Agent({
        ...(model ? INFERENCE : { headersTimeout: headersTimeoutMs, bodyTimeout: bodyTimeoutMs, maxResponseSize: maxBytes }),
        connect: guardedConnector(this.policyFor(purpose), { timeoutMs: connectTimeoutMs, dial: this.options.dial, ca: this.options.ca }),
        // One connection per request in flight: a slow answer never holds up another tenant's.
        pipelining: 1,
      });
      this.dispatchers.set(purpose, agent);
    }
    return agent;
  }

  /**
   * Fetches a whole answer: at most three redirects, each checked like the first address; credentials stay with the origin they
   * were meant for; size, growth and time are capped.
   *
   * @throws EgressError
   */
  fetch(url: string, init: EgressRequest): Promise<EgressResponse> {
    const { maxBytes, totalTimeoutMs } = egressConfig.value;
    return guardedFetch(url, init, this.policyFor(init.purpose), this.dispatcherFor(init), { maxBytes, timeoutMs: totalTimeoutMs });
  }

  /**
   * A `fetch` for libraries that speak a protocol of their own: answers are read as they arrive, redirects are refused, and only the signal
   * of a request bounds its time. What is refused or fails is an {@link EgressError}.
   *
   * @param maxBytes of all its answers together; of each, at most EGRESS_MAX_BYTES where a tenant chose the address
   */
  fetchFor({ purpose, maxBytes }: { purpose: EgressPurpose; maxBytes: number }): FetchLike {
    return streamingFetch(this.policyFor(purpose), this.dispatcherFor({ purpose }), maxBytes);
  }

  /**
   * Checks a tenant's URL when it is saved: its form, and that its host resolves to public addresses only. A courtesy to whoever
   * saves it; what protects is the check at the connection.
   *
   * @param field where it stands in the body, e.g. `base_url` or `['servers', 0, 'url']`
   * @returns the parsed URL, which is what to store: what is checked is what is used
   * @throws DomainError `validation_error` with the problem at `field`
   */
  async assertPublicUrl(
    value: string,
    { field, purpose = 'tool' }: { field: string | (string | number)[]; purpose?: EgressPurpose },
  ): Promise<URL> {
    const policy = this.policyFor(purpose);
    try {
      const url = parseAddress(value);
      policy.checkForm(url);
      if (!policy.vouched(url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80))) {
        await withinTime(policy.addresses(url.protocol, url.hostname, url.port), egressConfig.value.connectTimeoutMs);
      }
      return url;
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      const loc = ['body', ...(Array.isArray(field) ? field : [field])];
      throw new DomainError('validation_error', error.message, {
        problems: [{ loc, msg: error.message, type: 'value_error' }],
        cause: error,
      });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.dispatchers.values()].map((d) => d.destroy()));
    this.dispatchers.clear();
  }

  private policyFor(purpose: EgressPurpose): EgressPolicy {
    let policy = this.policies.get(purpose);
    if (!policy) this.policies.set(purpose, (policy = new EgressPolicy(purpose, egressConfig.value.allow, this.options.resolve)));
    return policy;
  }
}

async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new EgressError('dns', 'The host name cannot be resolved in time.')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

@Global()
@Module({ providers: [{ provide: Egress, useFactory: () => new Egress() }], exports: [Egress] })
export class EgressModule {}
