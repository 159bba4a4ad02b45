import { z } from 'zod';
import type { ClaimedCommand } from '../commands/commands.sql';

const work_id = z.uuid();

/** What machines say. What is beside these fields is of daemons that are newer than this, and left alone. */
const FROM_MACHINE = z.discriminatedUnion('type', [
  z.object({
    ...{ type: z.literal('hello'), version: z.string().max(64), platform: z.string().max(64), hostname: z.string().max(255) },
    /** What it is still at, of an earlier socket, and what it has done within the last minute: as many as a frame has room for. */
    work: z.array(work_id).default([]),
  }),
  z.object({ type: z.literal('heartbeat') }),
  z.object({ type: z.literal('output'), work_id, stream: z.enum(['stdout', 'stderr']), data: z.string() }),
  z.object({ type: z.literal('exit'), work_id, exit_code: z.int32().nullable(), timed_out: z.boolean(), truncated: z.boolean() }),
  z.object({ type: z.literal('file'), work_id, content_base64: z.base64(), truncated: z.boolean().default(false) }),
  z.object({ type: z.literal('bye') }),
]);
export type FrameOfMachine = z.output<typeof FROM_MACHINE>;
type Frame<T extends FrameOfMachine['type']> = Extract<FrameOfMachine, { type: T }>;
export type Hello = Frame<'hello'>;
export type OutputFrame = Frame<'output'>;
export type ExitFrame = Frame<'exit'>;
export type FileFrame = Frame<'file'>;

/** Why a socket is ended by us. */
export type ByeReason =
  'deleted' | 'goodbye' | 'hello_expected' | 'invalid_frame' | 'restarting' | 'silent' | 'taken_over' | 'token_replaced' | 'unavailable';

/** What machines are told. */
export type FrameToMachine =
  | { type: 'welcome'; environment_id: string; heartbeat_interval_s: number }
  | { type: 'exec'; work_id: string; command: string; workdir: string; timeout_s: number; workspace: string }
  | { type: 'put_file'; work_id: string; path: string; content_base64: string; workspace: string }
  | { type: 'get_file'; work_id: string; path: string; workspace: string }
  | { type: 'cancel'; work_id: string }
  | { type: 'bye'; reason: ByeReason };

/** @returns null for what is no frame */
export function readFrame(data: Buffer, isBinary: boolean): FrameOfMachine | null {
  if (isBinary) return null;
  try {
    return FROM_MACHINE.parse(JSON.parse(data.toString()));
  } catch {
    return null;
  }
}

/** A command as a socket carries it. */
export function frameOf({ id: work_id, kind, command, workdir, timeout_s, path, content, workspace }: ClaimedCommand): FrameToMachine {
  if (kind === 'exec') return { type: kind, work_id, command: command!, workdir, timeout_s, workspace };
  if (kind === 'get_file') return { type: kind, work_id, path: path!, workspace };
  return { type: kind, work_id, path: path!, content_base64: (content ?? Buffer.alloc(0)).toString('base64'), workspace };
}
