import { WebSocket } from 'ws';
import type { Output } from '../output';

/** What became of a command. */
export interface PodExec {
  /** Null where it could not be started, or was lost. */
  exitCode: number | null;
  /** The connection broke before its end was told: it may have begun, and may go on. */
  isLost: boolean;
  /** What was said where there is no exit code, for operators. */
  complaint?: string;
}

/** Numbers of the streams, which are the first byte of each message. */
const [STDIN, STDOUT, STDERR, STATUS] = [0, 1, 2, 3];
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const PIECE = 16 * 1024;
const CONNECT_MS = 15_000;

/** What the cluster sends at the end. */
interface Status {
  status: 'Success' | 'Failure';
  reason?: string;
  message?: string;
  details?: { causes?: { reason: string; message: string }[] };
}

/**
 * Runs what an address of the cluster's API stands for, by WebSocket. When the signal is aborted the connection is dropped: what runs in the pod
 * does not end by that.
 *
 * @returns also where the connection fails or breaks
 */
export function execInPod(
  { url, headers, ca }: { url: string; headers: Record<string, string>; ca?: string },
  stdin: Buffer | null,
  [stdout, stderr]: [Output, Output],
  signal: AbortSignal,
): Promise<PodExec> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, PROTOCOLS, {
      headers,
      ca,
      handshakeTimeout: CONNECT_MS,
      perMessageDeflate: false,
      followRedirects: false,
    });
    let end: PodExec = { exitCode: null, isLost: false };
    const drop = () => socket.terminate();
    if (signal.aborted) drop();
    signal.addEventListener('abort', drop, { once: true });
    socket
      .on('open', () => {
        end.isLost = true;
        if (stdin) void send(socket, stdin);
      })
      .on('message', (data: Buffer) => {
        const piece = data.subarray(1);
        if (data[0] === STDOUT) stdout.add(piece);
        else if (data[0] === STDERR) stderr.add(piece);
        else if (data[0] === STATUS) end = ofStatus(piece);
      })
      .on('error', ({ message }) => (end.complaint ??= message))
      .on('close', () => {
        signal.removeEventListener('abort', drop);
        resolve(end);
      });
  });
}

/** Not faster than it is taken. A command that ends before it has read all leaves the rest. */
async function send(socket: WebSocket, stdin: Buffer): Promise<void> {
  for (let at = 0; at < stdin.length && socket.readyState === WebSocket.OPEN; at += PIECE) {
    const message = Buffer.concat([Buffer.of(STDIN), stdin.subarray(at, at + PIECE)]);
    await new Promise((sent) => socket.send(message, sent));
  }
}

function ofStatus(piece: Buffer): PodExec {
  let said: Partial<Status> = {};
  try {
    said = JSON.parse(piece.toString('utf8')) as Status;
  } catch {
    // It says nothing then.
  }
  const { status, reason, message, details } = said;
  if (status === 'Success') return { exitCode: 0, isLost: false };
  const code = reason === 'NonZeroExitCode' ? details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message : undefined;
  return { exitCode: code === undefined ? null : Number(code), isLost: false, complaint: message };
}
