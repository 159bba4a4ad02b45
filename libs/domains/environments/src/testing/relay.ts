import net from 'node:net';

/** Stands between a daemon and the gateway, as networks and proxies do. */
export class Relay {
  /** `alone`: no socket is opened; `deaf`: nothing answers who wants one; `gone`: nothing answers. */
  mode: 'all' | 'alone' | 'deaf' | 'gone' = 'all';
  /** All that daemons have said here. */
  said = '';
  private readonly connections = new Set<net.Socket>();

  private constructor(private readonly server: net.Server) {}

  static async to(url: string): Promise<Relay> {
    const server = net.createServer();
    const relay = new Relay(server);
    server.on('connection', (client) => relay.accept(client, Number(new URL(url).port)));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as net.AddressInfo).port}`;
  }

  /** From now on, for what is open as well. */
  become(mode: Relay['mode']): void {
    this.mode = mode;
    for (const connection of this.connections) connection.destroy();
  }

  async close(): Promise<void> {
    this.become('gone');
    await new Promise((closed) => this.server.close(closed));
  }

  private accept(client: net.Socket, port: number): void {
    this.connections.add(client.on('error', () => undefined).on('close', () => this.connections.delete(client)));
    if (this.mode === 'gone') return void client.destroy();
    client.on('data', (piece: Buffer) => (this.said += piece.toString('latin1')));
    client.once('data', (first: Buffer) => {
      const isSocket = /^upgrade: websocket/im.test(first.toString('latin1'));
      if (this.mode === 'deaf' && isSocket) return;
      if (this.mode === 'alone' && isSocket) return client.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      const upstream = net.connect(port, '127.0.0.1').on('error', () => undefined);
      upstream.write(first);
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
  }
}
