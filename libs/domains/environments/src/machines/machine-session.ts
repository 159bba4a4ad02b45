import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, NO_CALLER, storable, type Tx } from '@aps/platform/database';
import { RealtimeHub } from '@aps/platform/realtime';
import { CommandsRepository, machineTopic } from '../commands/commands.repository';
import type { ClaimedCommand } from '../commands/commands.sql';
import { EnvironmentLog } from '../environment-log';
import { HEARTBEAT_INTERVAL_S, HEARTBEAT_TTL_S } from '../environments.policy';
import { EnvironmentsQueries } from '../environments.queries';
import { CONNECT, DISCONNECT, SOCKET_SEEN } from '../environments.sql';
import { Output } from '../sandbox/output';
import {
  frameOf,
  type ByeReason,
  type ExitFrame,
  type FileFrame,
  type FrameOfMachine,
  type FrameToMachine,
  type Hello,
  type OutputFrame,
} from './frames';
import type { Machine } from './machines.service';

/** Commands that a machine is at, at once: what it writes is kept here until they end. */
export const MAX_AT_WORK = 8;
/** However often a machine is heard of, it is noted so often, milliseconds. */
const NOTE_MS = 5_000;

/** The way to a machine. */
export interface MachineTransport {
  send(frame: FrameToMachine): void;
  /** Says why, and closes. */
  end(reason: ByeReason): void;
  /** It does not read what it was sent. */
  isClogged(): boolean;
}

/** What sessions ask of the rest. */
@Injectable()
export class SessionParts {
  constructor(
    readonly db: Database,
    readonly commands: CommandsRepository,
    readonly environments: EnvironmentsQueries,
    readonly log: EnvironmentLog,
    readonly hub: RealtimeHub,
  ) {}
}

/** A command that the machine is at. */
interface Work {
  stdout?: Output;
  stderr?: Output;
  /** What it had written before this socket may be missing. */
  isAdopted: boolean;
}

/** The machine opens another socket at once, or has done so already: it is as connected as before. */
const GOES_ON = new Set<ByeReason | null>(['restarting', 'taken_over', 'unavailable']);

/**
 * A machine that is connected. Its environment's row says whether this is still its socket; whoever changes that, or has something for it, wakes
 * it by the topic of the machine. What it says is taken one by one; a command that it does not have is nothing that it can tell of.
 */
export class MachineSession {
  readonly socketId = randomUUID();
  private readonly works = new Map<string, Work>();
  private readonly listener = { onSignal: () => void this.look() };
  private isOpen = false;
  private notedAt = -Infinity;
  private looking: Promise<void> | undefined;
  private lookAgain = false;
  /** Why we have ended it; null where the machine has. */
  private over: ByeReason | null | undefined;

  constructor(
    readonly machine: Machine,
    private readonly transport: MachineTransport,
    private readonly parts: SessionParts,
  ) {}

  /** The machine has said who it is, and was not sent away. */
  get isConnected(): boolean {
    return this.isOpen && this.over === undefined;
  }

  get atWork(): string[] {
    return [...this.works.keys()];
  }

  get reason(): string {
    return this.over ?? 'closed';
  }

  /** To be called with one frame after another; null: it was none. */
  async take(frame: FrameOfMachine | null): Promise<void> {
    if (this.over !== undefined) return;
    if (!frame) return this.end('invalid_frame');
    if (!this.isOpen) return frame.type === 'hello' ? this.begin(frame) : this.end('hello_expected');
    if (performance.now() - this.notedAt > NOTE_MS) await this.note();
    switch (frame.type) {
      case 'hello':
        return this.end('invalid_frame');
      case 'output':
        return this.collect(frame);
      case 'exit':
      case 'file':
        return this.finish(frame);
      case 'bye':
        return this.takeLeave();
    }
  }

  end(reason: ByeReason): void {
    if (this.over !== undefined) return;
    this.over = reason;
    this.transport.end(reason);
  }

  /** Its socket is closed. */
  async close(): Promise<void> {
    const over = (this.over ??= null);
    const { hub, db, log } = this.parts;
    const { id } = this.machine;
    hub.unlisten(machineTopic(id), this.listener);
    await this.looking;
    if (!this.isOpen || GOES_ON.has(over)) return;
    await db.transaction(NO_CALLER, async (tx) => {
      if ((await tx.query(DISCONNECT, [id, this.socketId])).length) await log.tell(tx, id);
    });
  }

  /** Whether it is still the one, what has ended, and what there is to do. One look at a time; who asks meanwhile gets another one. */
  look(): Promise<void> {
    this.lookAgain = true;
    return (this.looking ??= this.lookUntilQuiet().finally(() => (this.looking = undefined)));
  }

  private async lookUntilQuiet(): Promise<void> {
    while (this.lookAgain && this.isConnected) {
      this.lookAgain = false;
      try {
        await this.cancelEnded();
        for (const command of await this.claimed()) {
          this.works.set(command.id, { isAdopted: false });
          this.transport.send(frameOf(command));
        }
      } catch {
        // Nobody knows more than before; whoever looks after all sockets looks again.
      }
    }
  }

  private async begin({ work, version, platform, hostname }: Hello): Promise<void> {
    const { db, log, hub, commands } = this.parts;
    const { id, tokenHash } = this.machine;
    await hub.listen(machineTopic(id), this.listener);
    const isTheOne = await db.transaction(NO_CALLER, async (tx) => {
      const facts = storable({ version, platform, hostname });
      const [connected] = await tx.query(CONNECT, [id, this.socketId, facts, tokenHash, HEARTBEAT_TTL_S]);
      if (connected && !connected.told_connected) await log.tell(tx, id);
      return connected !== undefined;
    });
    if (!isTheOne) return this.end('token_replaced');
    const adopted = new Set(await commands.adopt(id, this.socketId, work, MAX_AT_WORK));
    for (const kept of adopted) this.works.set(kept, { isAdopted: true });
    this.isOpen = true;
    this.notedAt = performance.now();
    this.transport.send({ type: 'welcome', environment_id: id, heartbeat_interval_s: HEARTBEAT_INTERVAL_S });
    for (const unwanted of work.filter((each) => !adopted.has(each))) this.transport.send({ type: 'cancel', work_id: unwanted });
    // Also the socket before this one, wherever it is.
    commands.wakeMachine(id);
    await this.look();
  }

  private async note(): Promise<void> {
    this.notedAt = performance.now();
    if (!(await this.parts.db.transaction(NO_CALLER, (tx) => this.isStillTheOne(tx)))) return this.lose();
    if (this.works.size) await this.parts.commands.beatSocket(this.machine.org_id, this.socketId);
  }

  private async isStillTheOne(tx: Tx): Promise<boolean> {
    const { id } = this.machine;
    const [seen] = await tx.query(SOCKET_SEEN, [id, this.socketId, HEARTBEAT_TTL_S]);
    if (seen && !seen.told_connected) await this.parts.log.tell(tx, id);
    return seen !== undefined;
  }

  private async lose(): Promise<void> {
    this.end((await this.parts.environments.states([this.machine.id])).length ? 'taken_over' : 'deleted');
  }

  private async cancelEnded(): Promise<void> {
    for (const id of await this.parts.commands.ended(this.atWork))
      if (this.works.delete(id)) this.transport.send({ type: 'cancel', work_id: id });
  }

  private async claimed(): Promise<ClaimedCommand[]> {
    const { db, commands } = this.parts;
    const { id: environmentId, tokenHash } = this.machine;
    const room = this.transport.isClogged() ? 0 : MAX_AT_WORK - this.works.size;
    const claimed = await db.transaction(NO_CALLER, async (tx) => {
      if (!(await this.isStillTheOne(tx))) return null;
      return room > 0 ? commands.claimOf(tx, { environmentId, tokenHash, socketId: this.socketId }, room, db.now()) : [];
    });
    if (!claimed) await this.lose();
    return claimed ?? [];
  }

  private collect({ work_id, stream, data }: OutputFrame): void {
    const work = this.works.get(work_id);
    if (work) (work[stream] ??= new Output(null)).add(Buffer.from(data));
  }

  private async finish(frame: ExitFrame | FileFrame): Promise<void> {
    const work = this.works.get(frame.work_id);
    if (!work) return;
    this.works.delete(frame.work_id);
    const { stdout, stderr, isAdopted } = work;
    const isFile = frame.type === 'file';
    await this.parts.commands.finish(
      { id: frame.work_id, environment_id: this.machine.id },
      {
        exitCode: isFile ? 0 : frame.exit_code,
        stdout: stdout?.toBuffer() ?? '',
        stderr: stderr?.toBuffer() ?? '',
        timedOut: !isFile && frame.timed_out,
        truncated: frame.truncated || isAdopted || !!stdout?.isTruncated || !!stderr?.isTruncated,
        content: isFile ? Buffer.from(frame.content_base64, 'base64') : null,
      },
    );
    void this.look();
  }

  /** It has killed what it was at. */
  private async takeLeave(): Promise<void> {
    for (const id of this.atWork) await this.parts.commands.lose(id, 'The daemon of the machine was ended.');
    this.end('goodbye');
  }
}
