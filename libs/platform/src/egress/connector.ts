import net from 'node:net';
import tls from 'node:tls';
import { buildConnector } from 'undici';
import { bareHost, canonicalAddress, isPublicAddress } from './address';
import { EgressError, notPublic, type EgressPolicy } from './policy';

/** Opens a TCP connection to an IP address. Injectable, so that tests can lead a public address to a server of theirs. */
export type Dial = (address: string, port: number) => net.Socket;

export const systemDial: Dial = (address, port) => net.connect({ host: address, port, autoSelectFamily: false });

/** Of a name with many addresses not all are tried: the time would be gone anyway. */
const MAX_ADDRESSES = 4;

export interface ConnectorOptions {
  /** Milliseconds for everything: resolving, connecting, TLS. */
  timeoutMs: number;
  dial?: Dial;
  /** For tests with certificates of their own. */
  ca?: string;
}

/**
 * The only place where outbound connections are made. It resolves the name itself, checks every address, connects to one that it
 * has checked (no second look-up that could answer differently), and looks again at where it arrived before a byte is written.
 */
export function guardedConnector(policy: EgressPolicy, options: ConnectorOptions): buildConnector.connector {
  const dial = options.dial ?? systemDial;
  // Pools live long; a resumed TLS session saves a round trip and binds to the name, not to the address.
  const sessions = new Map<string, Buffer>();

  async function open(target: buildConnector.Options, signal: AbortSignal): Promise<net.Socket> {
    const { protocol, hostname, port: explicitPort } = target;
    policy.checkOrigin(protocol, hostname, explicitPort);
    const port = Number(explicitPort) || (protocol === 'https:' ? 443 : 80);
    const vouched = policy.vouched(hostname, port);
    const addresses = await orAborted(policy.addresses(protocol, hostname, explicitPort), signal);

    let tcp: net.Socket | undefined;
    let failure: unknown;
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      try {
        tcp = await established(dial(address, port), 'connect', signal);
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
        continue;
      }
      const reached = tcp.remoteAddress ?? '';
      if (!vouched && (!isPublicAddress(reached) || canonicalAddress(reached) !== canonicalAddress(address))) {
        tcp.destroy();
        throw notPublic();
      }
      break;
    }
    if (!tcp) throw new EgressError('connect', 'The address does not accept connections.', { cause: failure });
    tcp.setNoDelay(true).setKeepAlive(true, 60_000);
    return protocol === 'https:' ? secure(tcp, hostname, signal) : tcp;
  }

  async function secure(tcp: net.Socket, hostname: string, signal: AbortSignal): Promise<net.Socket> {
    const name = bareHost(hostname);
    const secured = tls.connect({
      socket: tcp,
      // The certificate must be for the name that was asked for, whatever address stands behind it.
      host: name,
      servername: net.isIP(name) ? '' : name,
      session: sessions.get(name),
      ALPNProtocols: ['http/1.1'],
      ca: options.ca,
    });
    secured.on('session', (session: Buffer) => {
      sessions.delete(name);
      sessions.set(name, session);
      if (sessions.size > 100) sessions.delete(sessions.keys().next().value!);
    });
    try {
      return await established(secured, 'secureConnect', signal);
    } catch (error) {
      tcp.destroy();
      if (signal.aborted) throw error;
      throw new EgressError('connect', 'A TLS connection to the address cannot be made.', { cause: error });
    }
  }

  return (target, callback) => {
    const signal = AbortSignal.timeout(options.timeoutMs);
    open(target, signal).then(
      (socket) => callback(null, socket),
      (error: Error) =>
        callback(
          signal.aborted && !(error instanceof EgressError) ? new EgressError('timeout', 'The address took too long to connect.') : error,
          null,
        ),
    );
  };
}

function established<S extends net.Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onReady);
      socket.off('error', settle);
      socket.off('close', onClose);
      if (!error) return resolve(socket);
      // Late errors of a socket that is given up have nobody left to hear them.
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onReady = () => settle();
    const onClose = () => settle(new Error('closed'));
    const onAbort = () => settle(signal.reason as Error);
    if (signal.aborted) return settle(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once(event, onReady).once('error', settle).once('close', onClose);
  });
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
