import { Injectable } from '@nestjs/common';
import { advisoryLock, Database, NO_CALLER, storable, type Db, type Tx } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import type { CommandOutput } from '../sandbox/sandbox-driver';
import {
  ADOPT,
  BEAT,
  BEAT_SOCKET,
  CANCEL,
  CANCEL_OF_ENVIRONMENT,
  CANCEL_OF_TURNS,
  CLAIM,
  CLAIM_OF,
  END_OF,
  FINISH,
  FORGET,
  FORGET_OUTPUT,
  GIVE_UP_WAITING,
  LOSE,
  LOSE_SILENT,
  STATUSES,
  WORKSPACES,
  type ClaimedCommand,
  type CommandEnd,
  type CommandRef,
} from './commands.sql';

/** Who waits for a command, and whoever runs it, is woken by this. */
export const commandTopic = (id: string): string => `command:${id}`;
/** The same of a machine, when there is something to do or to stop there. */
export const machineTopic = (environmentId: string): string => `machine:${environmentId}`;

/** What a command came to, where it ran; or why it did not. */
export type CommandResult = Omit<CommandOutput, 'stdout' | 'stderr'> & {
  stdout: Buffer | string;
  stderr: Buffer | string;
  content?: Buffer | null;
  error?: string | null;
};

/** Commands that an organization may have in sandboxes at the same time: all share the processes that run them. */
const MAX_OF_ORGANIZATION = 8;

export const NOT_RUN: CommandResult = { exitCode: null, stdout: '', stderr: '', timedOut: false, truncated: false };

/** A machine that takes commands. */
export interface Taker {
  environmentId: string;
  tokenHash: Buffer;
  socketId: string | null;
}

/** Commands, from when they are asked for until they are forgotten. Each end wakes who waits for it. */
@Injectable()
export class CommandsRepository {
  constructor(
    private readonly db: Database,
    private readonly realtime: RealtimePublisher,
  ) {}

  async end(id: string): Promise<CommandEnd | null> {
    return (await this.db.query(END_OF, [id]))[0] ?? null;
  }

  /** @returns null where somebody has it already, nobody wants it any more, or its organization has as many running as it may */
  async claim(orgId: string, id: string): Promise<ClaimedCommand | null> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      // Claims of the same moment would not count each other.
      await advisoryLock(tx, `environment_commands:${orgId}`);
      return (await tx.query(CLAIM, [id, MAX_OF_ORGANIZATION]))[0] ?? null;
    });
  }

  /** For a machine, the oldest first. @param lease by which its heartbeat is compared */
  async claimOf(db: Db, { environmentId, tokenHash, socketId }: Taker, most: number, lease: Date): Promise<ClaimedCommand[]> {
    const claimed = await db.query(CLAIM_OF, [environmentId, most, tokenHash, socketId, lease]);
    return claimed.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** @returns those that still run */
  async beat(ids: readonly string[]): Promise<Set<string>> {
    return new Set((await this.db.query(BEAT, [ids])).map(({ id }) => id));
  }

  /** What was taken by a socket is still at work. */
  async beatSocket(orgId: string, socketId: string): Promise<void> {
    await this.db.execute(BEAT_SOCKET, [orgId, socketId]);
  }

  /** @returns those that are a socket's from now on: of its machine, and wanted still */
  async adopt(environmentId: string, socketId: string, ids: readonly string[], most: number): Promise<string[]> {
    return ids.length ? (await this.db.query(ADOPT, [environmentId, socketId, ids, most])).map(({ id }) => id) : [];
  }

  /** Of those that go on no more. */
  async ended(ids: readonly string[]): Promise<string[]> {
    const known = ids.length ? await this.db.query(STATUSES, [ids]) : [];
    return known.filter(({ status }) => status !== 'running').map(({ id }) => id);
  }

  /** @returns whether it was running; a repeat changes nothing */
  async finish({ id, environment_id }: CommandRef, result: CommandResult): Promise<boolean> {
    const { exitCode, stdout, stderr, timedOut, truncated, error = null, content = null } = result;
    const [out, err] = [stdout, stderr].map((text) => storable(text.toString()));
    const finished = await this.db.query(FINISH, [id, environment_id, exitCode, out, err, timedOut, truncated, error, content]);
    this.wake(finished);
    return finished.length > 0;
  }

  async lose(id: string, error: string): Promise<void> {
    this.wake(await this.db.query(LOSE, [id, error]));
  }

  async cancel(id: string, why: string): Promise<void> {
    this.wake(await this.db.query(CANCEL, [id, why]));
  }

  /** Kills what turns have running, once that is committed. */
  async cancelOfTurns(tx: Tx, turnIds: readonly string[]): Promise<void> {
    const cancelled = await tx.query(CANCEL_OF_TURNS, [turnIds, 'The chat was stopped.']);
    tx.afterCommit(() => this.wake(cancelled));
  }

  async cancelOfEnvironment(tx: Tx, environmentId: string): Promise<void> {
    const cancelled = await tx.query(CANCEL_OF_ENVIRONMENT, [environmentId, 'The environment was deleted.']);
    tx.afterCommit(() => this.wake(cancelled));
  }

  /** Ends those that nobody can end any more. @returns how many */
  async sweep(most: number): Promise<number> {
    const over = [...(await this.db.query(LOSE_SILENT, [most])), ...(await this.db.query(GIVE_UP_WAITING, [most]))];
    this.wake(over);
    return over.length;
  }

  async forget(most: number): Promise<number> {
    return (await this.db.query(FORGET_OUTPUT, [most])).length + (await this.db.query(FORGET, [most])).length;
  }

  async workspacesOf(environmentId: string): Promise<string[]> {
    return (await this.db.query(WORKSPACES, [environmentId])).map(({ workspace }) => workspace);
  }

  /** Tells the machine that there is something for it. */
  wakeMachine(environmentId: string): void {
    this.realtime.publish(machineTopic(environmentId), []);
  }

  private wake(commands: readonly CommandRef[]): void {
    for (const { id } of commands) this.realtime.publish(commandTopic(id), []);
    for (const environmentId of new Set(commands.map((c) => c.environment_id))) this.wakeMachine(environmentId);
  }
}
