import net from 'node:net';

/** Stands between a client and PostgreSQL, as a network does. */
export class SilencedProxy {
  private constructor(
    readonly url: string,
    private readonly server: net.Server,
    private readonly sockets: net.Socket[],
  ) {}

  static async to(url: string): Promise<SilencedProxy> {
    const { port, hostname } = new URL(url);
    const sockets: net.Socket[] = [];
    const server = net.createServer((client) => {
      const upstream = net.connect(Number(port), hostname);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ]) {
        from
          .on('data', (piece) => to.write(piece))
          .on('error', () => undefined)
          .on('close', () => to.destroy());
        sockets.push(from);
      }
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const own = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String((server.address() as net.AddressInfo).port) });
    return new SilencedProxy(own.toString(), server, sockets);
  }

  /** Nothing more comes through the connections of now; nobody is told. */
  silence(): void {
    for (const socket of this.sockets) socket.removeAllListeners('data').resume();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((closed) => this.server.close(closed));
  }
}
