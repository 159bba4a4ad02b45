import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { bareHost, hostKey, isInnerName, isPublicAddress, readUrl } from './address';

/**
 * What a request leaves the house for.
 *
 * - `inference`: model providers that an organization chose; the allow-list never applies.
 * - `tool`, `source`, `hook`, `image`: MCP servers and HTTP tools, knowledge sources, outgoing hooks, registries of images, also
 *   organizations' choices.
 * - `platform`: an address that an operator set. It may be internal; only its form is checked.
 */
export type EgressPurpose = 'inference' | 'tool' | 'source' | 'hook' | 'image' | 'platform';

export type EgressReason =
  'url' | 'scheme' | 'userinfo' | 'port' | 'dns' | 'address' | 'connect' | 'redirect' | 'too_large' | 'encoding' | 'timeout' | 'network';

/** An outbound request that was refused or failed. The message is fit for the tenant: it never tells what a name resolved to. */
export class EgressError extends Error {
  /** It is of a place that a redirect led to: what was asked for first has been sent. */
  afterRedirect = false;

  constructor(
    readonly reason: EgressReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'EgressError';
  }

  /** Refused on purpose; trying again changes nothing. */
  get refused(): boolean {
    return !['dns', 'connect', 'timeout', 'network'].includes(this.reason);
  }
}

/** Finds all addresses of a host name; throws when there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** What becomes of a name of a tenant's choice within ten seconds: two tries at each server. */
const PATIENCE = { timeout: 2_000, tries: 2 };

/**
 * Asks name servers by ourselves. The system's resolver takes a thread of the process for as long as it waits, and there are two: names whose
 * servers never answer would keep everybody's connections waiting.
 */
export const asking =
  (servers = new dns.Resolver(PATIENCE)): Resolve =>
  async (hostname) => {
    const [four, six] = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)]);
    const [a, aaaa] = [four, six].map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (!a.length && !aaaa.length && four.status === 'rejected') throw four.reason;
    // In turn: of many addresses the first few are tried, and a host may reach one kind alone.
    return Array.from({ length: Math.max(a.length, aaaa.length) }, (_, i) => [a[i], aaaa[i]])
      .flat()
      .filter((address) => address !== undefined);
  };

const askServers = asking();

/** The system's resolver, which is also what a plain connection would ask: /etc/hosts, search domains and all. For what operators have named. */
const systemResolve: Resolve = async (hostname) => (await dns.lookup(hostname, { all: true, verbatim: true })).map((a) => a.address);

/** @throws EgressError `url` */
export function parseAddress(written: string): URL {
  const url = readUrl(written);
  if (!url) throw new EgressError('url', 'This is not a URL.');
  return url;
}

const portOf = (protocol: string, port: string) => (port ? Number(port) : protocol === 'https:' ? 443 : 80);

/** The rules for where a purpose may go. */
export class EgressPolicy {
  constructor(
    readonly purpose: EgressPurpose,
    private readonly allow: ReadonlySet<string>,
    /** In place of both resolvers. */
    private readonly resolve?: Resolve,
  ) {}

  /** The operator has vouched for this host and port: its address is not looked at. */
  vouched(hostname: string, port: number): boolean {
    if (this.purpose === 'platform') return true;
    return this.purpose !== 'inference' && this.allow.has(hostKey(hostname, port));
  }

  /**
   * What can be told from the form alone.
   *
   * @throws EgressError `url`, `scheme`, `userinfo` or `port`
   */
  checkForm(url: URL): void {
    if (url.username || url.password) throw new EgressError('userinfo', 'The URL must not contain a user name or password.');
    this.checkOrigin(url.protocol, url.hostname, url.port);
  }

  checkOrigin(protocol: string, hostname: string, explicitPort: string): void {
    if (protocol !== 'https:' && protocol !== 'http:') throw new EgressError('scheme', 'The URL must start with https://.');
    if (!bareHost(hostname)) throw new EgressError('url', 'The URL must name a host.');
    const port = portOf(protocol, explicitPort);
    if (this.vouched(hostname, port)) return;
    if (protocol !== 'https:') throw new EgressError('scheme', 'The URL must start with https://.');
    if (port !== 443 && (port < 1024 || port > 65_535)) throw new EgressError('port', 'The port must be 443, or 1024 or higher.');
  }

  /**
   * All addresses of the host, each of them checked: one internal address among them refuses the name, as the next look-up may
   * put it first.
   *
   * @throws EgressError `dns` or `address`
   */
  async addresses(protocol: string, hostname: string, explicitPort: string): Promise<string[]> {
    const host = bareHost(hostname);
    const vouched = this.vouched(hostname, portOf(protocol, explicitPort));
    let found: string[];
    // A literal is looked at like any answer of a resolver; Node itself would connect to it without asking anybody.
    if (isIP(host)) found = [host];
    else {
      if (!vouched && isInnerName(host)) throw notPublic();
      // The name goes out with its closing dot, if it has one: without it a search domain could answer for it.
      const name = hostname.toLowerCase();
      found = await (this.resolve ?? (vouched ? systemResolve : askServers))(name).catch((cause: Error) => {
        throw new EgressError('dns', 'The host name cannot be resolved.', { cause });
      });
    }
    if (!found.length) throw new EgressError('dns', 'The host name cannot be resolved.');
    if (!vouched && !found.every(isPublicAddress)) throw notPublic();
    return found;
  }
}

export function notPublic(): EgressError {
  return new EgressError('address', 'The address is not on the public internet.');
}
