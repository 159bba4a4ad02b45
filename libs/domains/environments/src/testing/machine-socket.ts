import { eventually } from '@aps/platform/testing';
import { WebSocket } from 'ws';

export const HELLO = { version: '1.0.0', platform: 'linux-x64', hostname: 'build-1' };

interface Frame extends Record<string, unknown> {
  type: string;
  work_id?: string;
  reason?: string;
}

/** A socket to `/api/daemon/connect`, as a daemon has it; a spec says what it says. */
export class MachineSocket {
  readonly frames: Frame[] = [];
  private readonly socket: WebSocket;
  private isClosed = false;

  private constructor(url: string, token: string, path: string) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws') + path, { headers: { authorization: `Bearer ${token}` } });
    this.socket
      .on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as Frame))
      .on('close', () => (this.isClosed = true))
      .on('error', () => undefined);
  }

  /** Without a hello. */
  static async open(url: string, token: string, path = '/api/daemon/connect'): Promise<MachineSocket> {
    const made = new MachineSocket(url, token, path);
    await new Promise((opened) => made.socket.once('open', opened));
    return made;
  }

  /** Until it is welcome. @param work what it is still at */
  static async connect(url: string, token: string, work: string[] = []): Promise<MachineSocket> {
    const made = await MachineSocket.open(url, token);
    made.say({ type: 'hello', ...HELLO, work });
    await made.told('welcome');
    return made;
  }

  /** What is answered where no socket is opened. */
  static refused(
    url: string,
    token: string,
    path = '/api/daemon/connect',
  ): Promise<{ status?: number; type?: string; body: Record<string, unknown> }> {
    const { socket } = new MachineSocket(url, token, path);
    return new Promise((resolve, reject) => {
      socket.once('open', () => reject(new Error('It was opened')));
      socket.once('unexpected-response', (_, response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        const { statusCode: status, headers } = response;
        response.on('end', () => resolve({ status, type: headers['content-type'], body: JSON.parse(Buffer.concat(pieces).toString()) }));
      });
    });
  }

  say(frame: object | string | Buffer): void {
    this.socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
  }

  /** A frame of this type, of those that nobody has waited for. */
  async told(type: string): Promise<Frame & { work_id: string }> {
    await eventually(
      async () => this.frames,
      (frames) => this.isClosed || frames.some((frame) => frame.type === type),
    );
    const at = this.frames.findIndex((frame) => frame.type === type);
    if (at < 0) throw new Error(`It was closed without ${type}, after ${JSON.stringify(this.frames)}`);
    return this.frames.splice(at, 1)[0] as Frame & { work_id: string };
  }

  /** Why it was ended by the other side. */
  async bye(): Promise<unknown> {
    const { reason } = await this.told('bye');
    await this.closed();
    return reason;
  }

  async closed(): Promise<void> {
    await eventually(async () => this.isClosed, Boolean);
  }

  end(): Promise<void> {
    this.socket.close();
    return this.closed();
  }

  /** As when its network is gone. */
  cut(): void {
    this.socket.terminate();
  }
}
