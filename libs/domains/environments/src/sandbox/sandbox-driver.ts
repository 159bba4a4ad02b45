/** How far what runs is kept from everything else. */
export type Isolation = 'pod' | 'container' | 'namespaces' | 'none';

/** Where the files of a workspace are, as commands see it. */
export const WORKSPACE = '/workspace';

/** Of each output stream, bytes that are kept: the first and the last half of it. */
export const KEPT_OUTPUT = 256 * 1024;

/** What a sandbox may take to be there, its image included, before the ceiling of its command begins, milliseconds. */
export const START_MS = 300_000;

/** What runs in a sandbox. */
export interface SandboxCommand {
  /** Of the command; unique, and what its processes can be found by. */
  id: string;
  /** The program and its arguments; looked up in the PATH of the sandbox. */
  argv: readonly string[];
  /** What it reads; null: nothing. */
  stdin: Buffer | null;
  /** In or below {@link WORKSPACE}. */
  workdir: string;
  /** Of whom the files are: commands with the same key see the same. A UUID. */
  workspace: string;
  /** Pinned reference of the image that it runs in; null: what the driver has. */
  image: string | null;
  /** Ceiling, milliseconds; then all its processes are killed. */
  timeoutMs: number;
}

/** What it came to. */
export interface CommandOutput {
  /** Null where it was killed. Of a program that a signal ended by itself: 128 and its number. */
  exitCode: number | null;
  stdout: Buffer;
  stderr: Buffer;
  /** The ceiling was reached. */
  timedOut: boolean;
  /** Of a stream, more was written than {@link KEPT_OUTPUT}; what is missing is told in its middle. */
  truncated: boolean;
}

/** The sandbox could not be made, or was lost: the message says so to people. The command has surely not run where `began` is false. */
export class SandboxFailed extends Error {
  constructor(
    message: string,
    readonly began: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An image has more than it may once it is unpacked. That is said of the image; other failures may be of the sandbox. */
export class ImageTooLarge extends SandboxFailed {}

/** What isolates commands, of one kind. */
export interface SandboxDriver {
  readonly name: string;
  readonly isolation: Isolation;
  /** Whether it runs images that organizations name. */
  readonly runsImages: boolean;

  /** Why it cannot be used here, as a sentence; null where it can. Runs something to know. */
  unusable(): Promise<string | null>;

  /**
   * Runs a command to its end. When the signal is aborted all its processes are killed at once, and the reason is thrown.
   *
   * @throws SandboxFailed
   */
  exec(command: SandboxCommand, signal: AbortSignal): Promise<CommandOutput>;

  /**
   * Brings an image here, so that commands in it begin at once.
   *
   * @param maxBytes what it may have once it is unpacked, where the driver sees that; else it does not stay. Null: anything
   * @throws ImageTooLarge; SandboxFailed
   */
  pull(image: string, signal: AbortSignal, maxBytes: number | null): Promise<void>;

  /** Digests of the images that are here because commands were to run in them. */
  images(): Promise<string[]>;

  /** Removes such an image, unless something runs in it. Whoever needs it again pulls it. */
  removeImage(digest: string): Promise<void>;

  /**
   * Removes the files of a workspace, and whatever still runs in it. One that is not there is no error.
   *
   * @param idleMs only where nobody has used it for so long, as it stands now
   */
  removeWorkspace(workspace: string, idleMs?: number): Promise<void>;

  /** Workspaces that nobody has used for so long, by key. */
  idleWorkspaces(idleMs: number): Promise<string[]>;
}
