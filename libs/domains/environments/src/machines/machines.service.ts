import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import type { Environment, MachineFacts } from '@aps/entities';
import type { CallerProof } from '@aps/guards';
import { hashToken } from '@aps/platform/crypto';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import type { ProvenCaller } from '@aps/platform/rate-limit';
import { RealtimeHub } from '@aps/platform/realtime';
import type { Request } from 'express';
import { CommandsRepository, machineTopic, type CommandResult } from '../commands/commands.repository';
import { OF_ANY_TOKEN, OF_TOKEN as COMMAND_OF_TOKEN, RENEW, type ClaimedCommand } from '../commands/commands.sql';
import { EnvironmentLog } from '../environment-log';
import { HEARTBEAT_TTL_S } from '../environments.policy';
import { OF_TOKEN, RENEWED, SEEN } from '../environments.sql';

/** A machine that has proven which one it is. */
export interface Machine extends Pick<Environment, 'id' | 'org_id' | 'last_seen_at'> {
  tokenHash: Buffer;
}

/** What a machine is given to do; the lease is the time that its next heartbeat names. */
export interface ClaimedWork {
  environment_id: string;
  work: ClaimedCommand | null;
  last_heartbeat: Date;
}

const BEARER = /^Bearer (aed_[A-Za-z0-9_-]{43})$/;
/** How often work is looked for where nobody tells of it. */
const LOOK_MS = 5_000;
/** Claims of a machine that wait at once in a process: of daemons that know nothing of each other, perhaps. A further one ends the oldest. */
const MAX_WAITING = 4;

/** What the daemons of remote machines ask for over plain requests: work, and to be believed that they are still at it. */
@Injectable()
export class Machines implements CallerProof {
  /** What ends the claims that wait in this process, by machine, the newest last. */
  private readonly waiting = new Map<string, AbortController[]>();

  constructor(
    private readonly db: Database,
    private readonly commands: CommandsRepository,
    private readonly log: EnvironmentLog,
    private readonly hub: RealtimeHub,
  ) {}

  /** @throws DomainError 401 for what is no token, or not any more */
  async authenticate(authorization: string | undefined): Promise<Machine> {
    const tokenHash = hashOf(authorization);
    const [machine] = await this.db.query(OF_TOKEN, [tokenHash]);
    if (!machine) throw unauthenticated();
    return { ...machine, tokenHash };
  }

  /** By the token of a machine, or one that it had when it took what it is at, or has just ended. @throws DomainError 401 */
  async prove({ headers }: Request): Promise<ProvenCaller> {
    const hash = hashOf(headers.authorization);
    const [known] = await this.db.query(OF_ANY_TOKEN, [hash]);
    if (!known) throw unauthenticated();
    return { credentialId: hash.toString('hex'), ownerId: known.org_id };
  }

  /**
   * The oldest command that waits for the machine; waits for one, until the machine has asked anew several times.
   *
   * @param signal ends the waiting: the machine has gone
   * @throws DomainError 401, also where the token is replaced meanwhile
   */
  async claim(authorization: string | undefined, hello: MachineFacts, waitS: number, signal: AbortSignal): Promise<ClaimedWork> {
    const machine = await this.authenticate(authorization);
    const until = performance.now() + waitS * 1_000;
    const over = new AbortController();
    const waiting = [...(this.waiting.get(machine.id) ?? []), over];
    if (waiting.length > MAX_WAITING) waiting.shift()!.abort();
    this.waiting.set(machine.id, waiting);
    const ended = AbortSignal.any([signal, over.signal]);
    let wake = new AbortController();
    const listener = { onSignal: () => wake.abort() };
    try {
      await this.hub.listen(machineTopic(machine.id), listener);
      for (;;) {
        wake = new AbortController();
        const claimed = await this.taken(machine, hello);
        const left = Math.min(until - performance.now(), LOOK_MS);
        if (claimed.work || left <= 0) return claimed;
        await sleep(left, undefined, { signal: AbortSignal.any([wake.signal, ended]) }).catch(() => undefined);
        // Who has gone, or asks anew, takes nothing by this.
        if (ended.aborted) return { ...claimed, work: null };
      }
    } finally {
      const left = (this.waiting.get(machine.id) ?? []).filter((other) => other !== over);
      if (left.length) this.waiting.set(machine.id, left);
      else this.waiting.delete(machine.id);
      this.hub.unlisten(machineTopic(machine.id), listener);
    }
  }

  /**
   * Keeps the lease of a command, or of the machine.
   *
   * @returns the lease from now on, and whether the command is to be killed
   * @throws DomainError 401; 404 for what is no command of this machine; 412 `lease_moved`
   */
  async heartbeat(
    authorization: string | undefined,
    workId: string | null,
    expected: string,
  ): Promise<{ last_heartbeat: Date; cancel: boolean }> {
    const lease = new Date(expected);
    const named = Number.isNaN(lease.getTime()) ? new Date(0) : lease;
    if (workId === null) return { last_heartbeat: await this.renewed(await this.authenticate(authorization), named), cancel: false };
    const command = await this.workOf(authorization, workId);
    if (command.status !== 'running') return { last_heartbeat: named, cancel: true };
    return this.db.transaction(NO_CALLER, async (tx) => {
      // By a token that was replaced the machine goes on with what it has, and is not there for more.
      const at = (await this.seen(tx, { ...command, id: command.environment_id }, null)) ?? this.db.now();
      const [kept] = await tx.query(RENEW, [command.environment_id, workId, named, at]);
      if (!kept) throw leaseMoved(command.heartbeat_at);
      return { last_heartbeat: at, cancel: false };
    });
  }

  /** @returns whether the command was under way; a repeat changes nothing. @throws DomainError 401; 404 as of {@link heartbeat} */
  async result(authorization: string | undefined, workId: string, result: CommandResult): Promise<boolean> {
    return this.commands.finish(await this.workOf(authorization, workId), result);
  }

  private taken(machine: Machine, hello: MachineFacts): Promise<ClaimedWork> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const lease = await this.seen(tx, machine, hello);
      if (!lease) throw unauthenticated();
      const taker = { environmentId: machine.id, tokenHash: machine.tokenHash, socketId: null };
      const [work = null] = await this.commands.claimOf(tx, taker, 1, lease);
      return { environment_id: machine.id, work, last_heartbeat: lease };
    });
  }

  /** The machine was heard of. @returns the lease; null where its token is not the one */
  private async seen(tx: Tx, { id, tokenHash }: Pick<Machine, 'id' | 'tokenHash'>, hello: MachineFacts | null): Promise<Date | null> {
    const [seen] = await tx.query(SEEN, [id, HEARTBEAT_TTL_S, hello, tokenHash]);
    if (seen && !seen.told_connected) await this.log.tell(tx, id);
    return seen?.last_seen_at ?? null;
  }

  private renewed({ id, last_seen_at }: Machine, expected: Date): Promise<Date> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const [kept] = await tx.query(RENEWED, [id, HEARTBEAT_TTL_S, expected]);
      if (!kept) throw leaseMoved(last_seen_at);
      if (!kept.told_connected) await this.log.tell(tx, id);
      return kept.last_seen_at!;
    });
  }

  /** A command that was taken by this token, whether that is still the one or not. */
  private async workOf(authorization: string | undefined, workId: string) {
    const tokenHash = hashOf(authorization);
    const [command] = await this.db.query(COMMAND_OF_TOKEN, [workId, tokenHash]);
    if (command) return { ...command, tokenHash };
    await this.authenticate(authorization);
    throw notFound('Work');
  }
}

function hashOf(authorization: string | undefined): Buffer {
  const [, token] = BEARER.exec(authorization ?? '') ?? [];
  if (!token) throw unauthenticated();
  return hashToken(token);
}

const unauthenticated = () => new DomainError('not_authenticated', 'This is not the token of a machine.');
const leaseMoved = (at: Date | null) =>
  new DomainError('lease_moved', 'The lease is another one by now.', { context: { last_heartbeat: at?.toISOString() ?? null } });
