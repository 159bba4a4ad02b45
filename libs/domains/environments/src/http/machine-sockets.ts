import { randomUUID } from 'node:crypto';
import { on } from 'node:events';
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DomainError } from '@aps/contracts';
import { errorBody, mayHold, toDomainError } from '@aps/platform/http';
import { gauge } from '@aps/platform/observability';
import { holdToRates, RateLimiter, takeOf } from '@aps/platform/rate-limit';
import { RealtimeHub } from '@aps/platform/realtime';
import { WebSocket, WebSocketServer } from 'ws';
import { HEARTBEAT_TTL_S } from '../environments.policy';
import { TO_LOOK_AT } from '../environments.sql';
import { readFrame, type ByeReason } from '../machines/frames';
import { MachineSession, SessionParts, type MachineTransport } from '../machines/machine-session';
import { Machines, type Machine } from '../machines/machines.service';

const PATH = '/api/daemon/connect';
const MAX_FRAME = 1024 * 1024;
/** Frames that are read ahead of the one that is being taken. */
const READ_AHEAD = 8;
/** A machine that was told that its socket ends has so long to close it, milliseconds. */
const CLOSING_MS = 1_000;
/** How often it is looked for what nobody has told: while signals come, and while they do not. */
const LOOK_MS = { connected: 10_000, alone: 2_000 };

interface Connection {
  session: MachineSession;
  /** Settles when all is done that there is to do. */
  served: Promise<void>;
}

/** The sockets of remote machines, one for each: `wss /api/daemon/connect`. */
@Injectable()
export class MachineSockets implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('MachineSockets');
  private readonly server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME, clientTracking: false });
  /** By environment. */
  private readonly connections = new Map<string, Connection>();
  private looker: NodeJS.Timeout | undefined;
  private isEnding = false;
  /** How long a machine may take to say who it is, and then say nothing at all, milliseconds. */
  readonly patience = { helloMs: 10_000, silentMs: HEARTBEAT_TTL_S * 1_000 };

  /** Of this process: each has a socket, and room for what its commands write. */
  readonly places = { most: 5_000 };

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly machines: Machines,
    private readonly parts: SessionParts,
    private readonly hub: RealtimeHub,
    private readonly limiter: RateLimiter,
  ) {
    gauge('machines_connected', 'Remote machines with a socket to this process', [], (g) => g.set(this.sessions().length));
  }

  onApplicationBootstrap(): void {
    const http = this.host.httpAdapter.getHttpServer() as Server;
    http.on('upgrade', (request, socket, head) => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') void this.upgrade(request, socket, head);
      else readPlain(http, request, socket, head);
    });
    this.hub.onReturn(() => void this.lookAfterAll());
    const again = () => {
      this.looker = setTimeout(
        () => void this.lookAfterAll().finally(again),
        this.hub.connected ? LOOK_MS.connected : LOOK_MS.alone,
      ).unref();
    };
    again();
  }

  /** Before the HTTP server waits for its connections. What machines are at goes on; they come again, to another process. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isEnding = true;
    for (const { session } of this.connections.values()) session.end('restarting');
    await Promise.all([...this.connections.values()].map(({ served }) => served));
    clearTimeout(this.looker);
  }

  private sessions(): MachineSession[] {
    return [...this.connections.values()].map(({ session }) => session).filter((session) => session.isConnected);
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A connection that breaks while it is looked at is nobody's any more.
    socket.on('error', () => undefined);
    try {
      if (request.url?.split('?')[0] !== PATH) throw new DomainError('not_found', 'There is nothing at this address.');
      const machine = await this.machines.authenticate(request.headers.authorization);
      holdToRates([await takeOf(this.limiter, machine.tokenHash.toString('hex'))]);
      if (this.isEnding || !this.hasPlaceFor(machine))
        throw new DomainError('service_unavailable', 'There is no room for another machine here. Try again.', { retryAfterS: 1 });
      this.server.handleUpgrade(request, socket, head, (opened) => this.accept(opened, machine));
    } catch (error) {
      refuse(socket, error);
    }
  }

  /** One that is here already has its place. Machines of few organizations leave some to those of others. */
  private hasPlaceFor({ id, org_id }: Machine): boolean {
    if (this.connections.has(id)) return true;
    const own = [...this.connections.values()].filter(({ session }) => session.machine.org_id === org_id).length;
    return mayHold(this.places.most, this.connections.size + 1, own + 1);
  }

  private accept(socket: WebSocket, machine: Machine): void {
    const session = new MachineSession(machine, transportOf(socket), this.parts);
    this.connections.get(machine.id)?.session.end('taken_over');
    const connection = { session, served: this.serve(socket, session) };
    this.connections.set(machine.id, connection);
    void connection.served.finally(() => {
      if (this.connections.get(machine.id) === connection) this.connections.delete(machine.id);
    });
  }

  /** Takes one frame after another; what is not taken yet is not read, as far as that goes. */
  private async serve(socket: WebSocket, session: MachineSession): Promise<void> {
    let patience: NodeJS.Timeout | undefined;
    const within = (ms: number, reason: ByeReason) => {
      clearTimeout(patience);
      patience = setTimeout(() => session.end(reason), ms).unref();
    };
    const told = { environment_id: session.machine.id };
    // What breaks it, as a frame that is too long does, is an end like another.
    let broken: unknown;
    socket.on('error', (error) => (broken = error));
    within(this.patience.helloMs, 'hello_expected');
    try {
      const frames = on(socket, 'message', { close: ['close'], highWaterMark: READ_AHEAD });
      for await (const [data, isBinary] of frames as AsyncIterable<[Buffer, boolean]>) {
        const wasConnected = session.isConnected;
        await session.take(readFrame(data, isBinary));
        within(this.patience.silentMs, 'silent');
        if (session.isConnected && !wasConnected) this.logger.log({ msg: 'A machine is connected', ...told });
      }
    } catch (error) {
      if (error !== broken) {
        this.logger.warn({ msg: 'A machine could not be served', ...told, error: (error as Error).message });
        session.end('unavailable');
      }
    }
    clearTimeout(patience);
    await session.close().catch((error: Error) => this.logger.warn({ msg: 'A machine is gone untold', ...told, error: error.message }));
    this.logger.log({ msg: 'A machine is gone', ...told, reason: session.reason });
  }

  /** What signals have not told, or were lost. */
  private async lookAfterAll(): Promise<void> {
    const sessions = this.sessions();
    if (!sessions.length) return;
    const values = [
      sessions.map(({ machine }) => machine.id),
      sessions.map(({ socketId }) => socketId),
      sessions.flatMap(({ atWork }) => atWork),
    ];
    const changed = new Set((await this.parts.db.query(TO_LOOK_AT, values).catch(() => [])).map(({ id }) => id));
    await Promise.all(sessions.filter(({ machine }) => changed.has(machine.id)).map((session) => session.look()));
  }
}

const transportOf = (socket: WebSocket): MachineTransport => ({
  send: (frame) => socket.send(JSON.stringify(frame), () => undefined),
  isClogged: () => socket.bufferedAmount > MAX_FRAME,
  end: (reason) => {
    socket.send(JSON.stringify({ type: 'bye', reason }), () => undefined);
    socket.close();
    void sleep(CLOSING_MS, undefined, { ref: false }).then(() => socket.terminate());
  },
});

const WISHES = new Set(['connection', 'http2-settings', 'upgrade']);

/**
 * Who would rather speak something else, as clients of HTTP/2 do, goes on as if they had not said so. Node asks whoever listens for upgrades and answers
 * nobody by itself then, so the request is read once more, without the wish.
 */
function readPlain(server: Server, { method, url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!WISHES.has(rawHeaders[i].toLowerCase())) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** The documented shape of an error, as it is answered to other requests. */
function refuse(socket: Duplex, cause: unknown): void {
  const { error } = toDomainError(cause);
  const requestId = randomUUID();
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...(error.status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(error.retryAfterS === undefined ? [] : [`Retry-After: ${error.retryAfterS}`]),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
