import http from 'node:http';
import net from 'node:net';
import { setImmediate as afterPolling, setTimeout as sleep } from 'node:timers/promises';
import { hasBody } from './body';

/** How often it is looked again for connections that have become idle. */
const LOOK_MS = 100;

/** Node's own note of the response that a connection is at; not in its types. */
const responseOn = (socket: net.Socket) => (socket as net.Socket & { readonly _httpMessage?: http.ServerResponse | null })._httpMessage;

/**
 * The connections of an HTTP server, and how they end without cutting off a request. A server that just closes (`server.close()`) ends
 * kept connections in the moment in which their clients send the next request, and is held open by clients that never stop sending.
 */
export class Connections {
  /** Each with the number of bytes that had come when it was last looked at; -1 for one that was not, whose first request may be on its way. */
  private readonly sockets = new Map<net.Socket, number>();
  private released = false;

  constructor(private readonly server: http.Server) {
    server.on('connection', (socket) => {
      this.sockets.set(socket, -1);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** From now on every answer says `Connection: close`: a client makes its next request on another connection, wherever that leads. */
  release(): void {
    if (this.released) return;
    this.released = true;
    for (const socket of this.sockets.keys()) {
      this.sockets.set(socket, socket.bytesRead);
      const running = responseOn(socket);
      if (running && !running.headersSent) closeAfter(running);
    }
    this.server.prependListener('request', (_request, response) => closeAfter(response));
  }

  /** Takes no new connections, lets running requests end, then closes what is left. Resolves when there is no connection any more. */
  async end(): Promise<void> {
    this.release();
    if (!this.server.listening) return;
    // Now and below: right after the system was asked for what has come. Connections that wait to be accepted would be reset, and one
    // whose request waits to be read is not idle.
    await afterPolling();
    let over = false;
    // Not the HTTP server's own `close`: that begins with the idle connections.
    const closed = new Promise<void>((resolve) => net.Server.prototype.close.call(this.server, () => resolve())).then(() => (over = true));
    while (!over) {
      await afterPolling();
      this.closeIdle();
      await Promise.race([closed, sleep(LOOK_MS)]);
    }
    // Ends the timer by which it watches for late requests, and which would keep it in memory.
    this.server.close();
  }

  /** Closes connections without a request: no answer is under way, and nothing has come since the last look. */
  private closeIdle(): void {
    for (const [socket, seen] of this.sockets) {
      if (responseOn(socket)) continue;
      if (socket.bytesRead === seen) socket.destroySoon();
      else this.sockets.set(socket, socket.bytesRead);
    }
  }
}

/** Has a response end its connection, and say so. */
function closeAfter(response: http.ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => http.ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    // A client that still sends its body would be cut off while it does, and not read the answer. Its connection ends with the idle ones.
    if (response.req.complete || !hasBody(response.req)) response.shouldKeepAlive = false;
    return writeHead(...args);
  };
}
