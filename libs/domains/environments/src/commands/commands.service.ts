import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EnvironmentCommand } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, NO_CALLER } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { RealtimeHub } from '@aps/platform/realtime';
import { Cutoff } from '@aps/platform/signals';
import { uuidv7 } from 'uuidv7';
import { commandTimeoutOf, obstacleOf, SLACK_S } from '../environments.policy';
import { EnvironmentsQueries } from '../environments.queries';
import { CommandsRepository, commandTopic } from './commands.repository';
import { BY_CALL, HOLD_TURN, INSERT, type CommandEnd } from './commands.sql';

/** Something to be done in an environment. */
export interface WantedCommand extends Pick<EnvironmentCommand, 'kind' | 'command' | 'path' | 'content'> {
  /** In or below `/workspace`. */
  workdir: string;
  /** Less than the ceiling of its environment, seconds. */
  timeoutS?: number;
}

/** Whose command it is: of a call of a turn, or of nobody's, to find out whether the environment answers. */
export interface CommandOwner {
  orgId: string;
  environmentId: string;
  /** The same for whoever makes the same call again. */
  callKey: string;
  /** Commands of one root chat share their files. */
  rootChatId: string;
  of: { chatId: string; turnId: string } | null;
}

/** No command can run there, and none has; the message is for people and models. */
export class EnvironmentUnavailable extends Error {}

/** A command that nobody has begun for so long is given up, milliseconds. */
const MAX_QUEUED_MS = 5 * 60_000;
/** How often a row is read where nobody tells of its end. */
const LOOK_MS = 2_000;

/** Runs commands: each is a row, whoever comes to run it, and whoever waits for it. */
@Injectable()
export class Commands {
  constructor(
    private readonly db: Database,
    private readonly repository: CommandsRepository,
    private readonly environments: EnvironmentsQueries,
    private readonly outbox: Outbox,
    private readonly hub: RealtimeHub,
  ) {}

  /**
   * Runs a command to its end; where its call has one already, waits for that. A signal that is aborted ends the waiting alone.
   *
   * @throws EnvironmentUnavailable
   */
  async run(owner: CommandOwner, wanted: WantedCommand, signal: AbortSignal): Promise<CommandEnd> {
    const { id, timeoutS } = await this.ask(owner, wanted);
    const end = await this.ended(id, { queuedMs: MAX_QUEUED_MS, totalMs: MAX_QUEUED_MS + (timeoutS + SLACK_S) * 1_000 }, signal);
    if (end.status === 'cancelled' && end.started_at === null) throw new EnvironmentUnavailable(end.error ?? 'It was cancelled.');
    return end;
  }

  /** Runs what does nothing, and so finds out whether anything could be. @throws DomainError `not_found` */
  async ping(scope: OrgScope, id: string): Promise<{ ok: boolean; latency_ms: number | null; message: string }> {
    const refused = (message: string) => ({ ok: false, latency_ms: null, message });
    // As a write: whoever has just lost the right has nothing run.
    const environment = await this.db.transaction(scope, (tx) => this.environments.get(scope, id, tx));
    const obstacle = obstacleOf(environment);
    if (obstacle !== null) return refused(obstacle);
    const began = performance.now();
    const cut = new Cutoff(undefined, PING_MS);
    const call = uuidv7();
    const owner = { orgId: scope.orgId, environmentId: id, callKey: `ping/${call}`, rootChatId: id, of: null };
    const wanted = { kind: 'exec', command: 'true', workdir: '/workspace', path: null, content: null, timeoutS: PING_MS / 1_000 } as const;
    try {
      const end = await this.run(owner, wanted, cut.signal);
      if (end.exit_code !== 0) return refused(end.error ?? 'A command was begun there and did not end well.');
      return { ok: true, latency_ms: Math.round(performance.now() - began), message: 'The environment answered.' };
    } catch (error) {
      if (error instanceof EnvironmentUnavailable) return refused(error.message);
      if (!cut.isLate) throw error;
      const asked = await this.db.query(BY_CALL, [owner.callKey, owner.orgId]);
      for (const command of asked) await this.repository.cancel(command.id, 'It was a ping.');
      return refused(`It did not answer within ${PING_MS / 1_000} seconds.`);
    } finally {
      cut.release();
    }
  }

  /** @returns the command of the call */
  private async ask(owner: CommandOwner, wanted: WantedCommand): Promise<{ id: string; timeoutS: number }> {
    const { orgId, environmentId, callKey, rootChatId, of } = owner;
    const scope = OrgScope.system(orgId, 'commands of a turn');
    const [known] = await this.db.query(BY_CALL, [callKey, orgId]);
    const environment = await this.environments.find(scope, known?.environment_id ?? environmentId);
    if (known) return { id: known.id, timeoutS: environment ? commandTimeoutOf(environment) : 0 };
    const obstacle = environment ? obstacleOf(environment) : 'The environment was deleted.';
    if (!environment || obstacle !== null) throw new EnvironmentUnavailable(obstacle!);
    const timeoutS = commandTimeoutOf(environment, wanted.timeoutS);
    return this.db.transaction(NO_CALLER, async (tx) => {
      // Whoever deletes it comes before, or cancels this as well.
      if (!(await this.environments.holds(tx, scope, environmentId))) throw new EnvironmentUnavailable('The environment was deleted.');
      // A stop knows of no command that comes after it.
      if (of && !(await tx.query(HOLD_TURN, [of.turnId, orgId])).length) throw new EnvironmentUnavailable('The chat was stopped.');
      const { kind, command, workdir, path, content } = wanted;
      const [made] = await tx.query(INSERT, [
        ...[uuidv7(), orgId, environmentId, of?.chatId ?? null, of?.turnId ?? null, callKey, workspaceOf(environmentId, rootChatId)],
        ...[kind, command, workdir, path, content, timeoutS],
      ]);
      if (!made) return { id: (await tx.query(BY_CALL, [callKey, orgId]))[0].id, timeoutS };
      if (environment.kind === 'REMOTE_MACHINE') tx.afterCommit(() => this.repository.wakeMachine(environmentId));
      else await this.outbox.enqueue(tx, 'environment.command', { org_id: orgId, command_id: made.id });
      return { id: made.id, timeoutS };
    });
  }

  /** Waits until a command is over. One that nobody begins, or ends, in its time is cancelled. */
  private async ended(id: string, most: { queuedMs: number; totalMs: number }, signal: AbortSignal): Promise<CommandEnd> {
    const began = performance.now();
    let wake = new AbortController();
    const listener = { onSignal: () => wake.abort() };
    await this.hub.listen(commandTopic(id), listener);
    try {
      for (;;) {
        wake = new AbortController();
        const command = (await this.repository.end(id))!;
        if (command.status !== 'queued' && command.status !== 'running') return command;
        signal.throwIfAborted();
        const waited = performance.now() - began;
        if (waited > (command.status === 'queued' ? most.queuedMs : most.totalMs))
          await this.repository.cancel(id, 'Nothing there took it, or ended it, in time.');
        else await sleep(LOOK_MS, undefined, { signal: AbortSignal.any([wake.signal, signal]) }).catch(() => undefined);
      }
    } finally {
      this.hub.unlisten(commandTopic(id), listener);
    }
  }
}

/** What a ping may take, milliseconds. */
const PING_MS = 10_000;

/** One for each environment and root chat: what is in it is nobody else's. */
function workspaceOf(environmentId: string, rootChatId: string): string {
  const hex = createHash('sha256').update(`${environmentId}/${rootChatId}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
