import { WebSocket } from 'ws';
import type { Link, LinkEnd, Target } from './link';
import { TOKEN_REFUSED } from './link';
import type { Wanted, Work } from './work';
import type { Works } from './works';

/** Nothing is gained by coming back: another daemon has this token, or nobody has. */
const FOR_GOOD: Record<string, string | undefined> = {
  taken_over: 'Another daemon has connected with this token.',
  deleted: 'The environment was deleted.',
};

/** What is told by the other side; which fields there are follows from the type. */
interface Frame extends Partial<Wanted> {
  type: string;
  work_id: string;
  workspace: string;
  heartbeat_interval_s: number;
  reason: string;
}

const FRAME_DEFAULTS = { command: null, workdir: '/workspace', timeout_s: 0, path: null, content_base64: null };

/** Frames over a WebSocket. */
export class SocketLink implements Link {
  private readonly socket: WebSocket;
  private beat: NodeJS.Timeout | undefined;
  private isWelcome = false;
  private isAnswered = true;
  private over: LinkEnd | undefined;

  /** @param welcomeMs time until a connection is welcome */
  constructor(
    { url, token, hello }: Target,
    private readonly works: Works,
    private readonly welcomeMs: number,
    private readonly connected: () => void,
  ) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/daemon/connect`, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: welcomeMs,
      perMessageDeflate: false,
    });
    this.socket.on('open', () => this.say({ type: 'hello', ...hello, work: works.ids }));
    this.socket.on('message', (data: Buffer) => this.hear(JSON.parse(data.toString()) as Frame));
    this.socket.on('pong', () => (this.isAnswered = true));
  }

  /** Until it is closed. */
  ended(): Promise<LinkEnd> {
    const late = setTimeout(() => this.isWelcome || this.socket.terminate(), this.welcomeMs);
    return new Promise<LinkEnd>((resolve) => {
      this.socket.on('unexpected-response', (_, { statusCode }) => {
        if (statusCode === 401) this.over = TOKEN_REFUSED;
        this.socket.terminate();
      });
      this.socket.on('error', () => undefined);
      this.socket.on('close', () => resolve(this.over ?? { kind: this.isWelcome ? 'lost' : 'refused' }));
    }).finally(() => {
      clearTimeout(late);
      clearInterval(this.beat);
    });
  }

  tell({ wanted: { id: work_id }, stdout, stderr, end }: Work): void {
    if (!this.isWelcome || this.socket.readyState !== WebSocket.OPEN) return;
    for (const [stream, kept] of Object.entries({ stdout, stderr }))
      for (const data of kept.untold(end !== undefined)) this.say({ type: 'output', work_id, stream, data });
    if (!end) return;
    const { content_base64, ...exit } = end;
    this.say(
      content_base64 === null ? { type: 'exit', work_id, ...exit } : { type: 'file', work_id, content_base64, truncated: exit.truncated },
    );
  }

  /** The daemon ends. */
  async leave(): Promise<void> {
    if (this.socket.readyState !== WebSocket.OPEN) return this.socket.terminate();
    await new Promise((sent) => this.socket.send('{"type":"bye"}', sent));
    this.socket.close();
  }

  private say(frame: object): void {
    this.socket.send(JSON.stringify(frame), () => undefined);
  }

  /** Frames that are newer than this daemon are left alone. */
  private hear({ type, work_id, heartbeat_interval_s, reason, ...work }: Frame): void {
    const { works } = this;
    switch (type) {
      case 'welcome':
        this.isWelcome = true;
        this.beat = setInterval(() => this.keepAlive(), heartbeat_interval_s * 1_000);
        works.tellBy(this);
        return this.connected();
      case 'exec':
      case 'put_file':
      case 'get_file':
        return works.start({ ...FRAME_DEFAULTS, ...work, kind: type, id: work_id });
      case 'cancel':
        return works.cancel(work_id);
      case 'bye':
        return this.takeLeave(reason);
    }
  }

  private takeLeave(reason: string): void {
    const why = FOR_GOOD[reason];
    if (why) this.over = { kind: 'over', why };
    this.socket.close();
  }

  /** A connection whose other side has gone is not closed by anybody: it answers no more. */
  private keepAlive(): void {
    if (!this.isAnswered) return this.socket.terminate();
    this.isAnswered = false;
    this.socket.ping();
    this.say({ type: 'heartbeat' });
  }
}
