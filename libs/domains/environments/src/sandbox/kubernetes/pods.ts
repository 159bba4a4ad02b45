import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Cutoff } from '@aps/platform/signals';
import { SandboxFailed, START_MS } from '../sandbox-driver';
import {
  CONFLICT,
  KubernetesRefused,
  NOT_FOUND,
  type Kind,
  type KubernetesApi,
  type KubernetesObject,
  type Metadata,
} from './kubernetes-api';
import {
  claimManifest,
  claimName,
  hasEnded,
  isOver,
  isRunning,
  LABELS,
  lossOf,
  NO_ROOM,
  podManifest,
  podName,
  startFailureOf,
  startProblem,
  USED_AT,
  waitingFor,
  WORKSPACE_LABEL,
  type Pod,
} from './pod.manifest';

/** The first waits for what is not there yet; later ones are longer. */
const LOOK_MS = 100;
const MAX_LOOK_MS = 1_000;
const IDLE_MS = 600_000;
const SWEEP_MS = 60_000;
/** Where others find no room, idle ones go earlier, a few at a time: those at work say so with each sweep. */
const NOT_AT_WORK_MS = 3 * SWEEP_MS;
const GIVE_WAY = 5;
const KILLS = 3;
/** So often an ended pod is looked for where a command was killed, or the connection to it broke. */
const LOOKS = 10;

const LABEL_SELECTOR = Object.entries(LABELS)
  .map((label) => label.join('='))
  .join(',');

/**
 * Pods that commands run in, one per workspace and image, and the volumes of workspaces. All processes share them by their names, and tell each
 * other by an annotation that they are used.
 */
export class Pods {
  private readonly logger = new Logger('kubernetes');
  /** By name of the pod, its workspace and the commands that this process runs in it. */
  private readonly held = new Map<string, { workspace: string; commands: number }>();
  private sweeping?: NodeJS.Timeout;

  constructor(private readonly api: KubernetesApi) {}

  /**
   * Does something with the pod of a workspace, which is kept meanwhile.
   *
   * @throws SandboxFailed where there cannot be one; the reason of the signal
   */
  async with<T>(workspace: string, image: string, signal: AbortSignal, use: (pod: Pod) => Promise<T>): Promise<T> {
    const name = podName(workspace, image);
    const held = this.held.get(name) ?? { workspace, commands: 0 };
    this.held.set(name, held);
    held.commands++;
    this.sweeping ??= setInterval(() => void this.sweep(), SWEEP_MS).unref();
    const manifest = () => podManifest(name, image, workspace, this.usedAt());
    try {
      return await use(await this.asFailure(this.useVolume(workspace).then(() => this.running(name, manifest, signal))));
    } finally {
      if (!--held.commands) this.held.delete(name);
      await this.touch(name, workspace).catch((error: unknown) => this.logger.warn(error));
    }
  }

  /** Has a node of the cluster fetch an image. @throws SandboxFailed; the reason of the signal */
  async pull(image: string, signal: AbortSignal): Promise<void> {
    const name = `pull-${randomUUID()}`;
    try {
      await this.asFailure(this.running(name, () => podManifest(name, image, null, this.usedAt()), signal));
    } catch (error) {
      // It was fetched before it could not be started.
      if (!(error instanceof StartFailed)) throw error;
    } finally {
      await this.api.remove('pods', name).catch((error: unknown) => this.logger.warn(error));
    }
  }

  /** Ends a pod and all that runs in it, and no other one that has its name by now. */
  async kill({ metadata: { name, uid } }: Pod): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.api.remove('pods', name, { uid }).catch(unlessConflict);
      } catch (error) {
        if (tries === KILLS) return this.logger.error(error);
        await sleep(LOOK_MS);
      }
    }
  }

  /** Why a command in it was lost, as a sentence; null where the pod is as it was. The cluster may learn of it later than we do. */
  async loss({ metadata: { name, uid } }: Pod): Promise<string | null> {
    for (let looks = 1; looks <= LOOKS; looks++) {
      const now = await orNull(this.api.get<Pod>('pods', name)).catch(() => null);
      if (now?.metadata.uid !== uid) return lossOf(null);
      if (isOver(now) || !isRunning(now)) return lossOf(now);
      await sleep(LOOK_MS);
    }
    return null;
  }

  /** Of one that is idle, the volume goes first, and only as it was found: who has used it since has said so by it. */
  async removeWorkspace(workspace: string, idleMs?: number): Promise<void> {
    const claim = claimName(workspace);
    if (idleMs !== undefined) {
      const found = await orNull(this.api.get<KubernetesObject>('persistentvolumeclaims', claim));
      if (!found || !this.isIdle(found.metadata, idleMs)) return;
      const { resourceVersion } = found.metadata;
      return this.api.remove('persistentvolumeclaims', claim, { resourceVersion }).catch(unlessConflict);
    }
    await this.api.removeAll('pods', `${WORKSPACE_LABEL}=${workspace}`);
    await this.api.remove('persistentvolumeclaims', claim);
  }

  /** Keys of workspaces whose volumes nobody has used for so long. */
  async idleWorkspaces(idleMs: number): Promise<string[]> {
    const claims = await this.api.list('persistentvolumeclaims', LABEL_SELECTOR);
    return claims.filter((claim) => this.isIdle(claim, idleMs)).map(({ labels }) => labels![WORKSPACE_LABEL]);
  }

  /** Says of the pods of this process that they are used, and removes those that nobody uses any more. */
  async sweep(): Promise<void> {
    try {
      for (const [name, { workspace }] of this.held) await this.touch(name, workspace);
      for (const pod of await this.api.list('pods', LABEL_SELECTOR)) {
        const { name, resourceVersion } = pod;
        // Not where somebody has said meanwhile that it is used.
        if (this.isIdle(pod, IDLE_MS)) await this.api.remove('pods', name, { resourceVersion }).catch(unlessConflict);
      }
    } catch (error) {
      this.logger.warn(error);
    }
  }

  /** Removes some that have been idle for longest: their workspaces stay, and they start anew within seconds. @returns whether some go, or did already */
  private async makeRoom(): Promise<boolean> {
    const pods = await this.api.list('pods', LABEL_SELECTOR);
    const usedAt = ({ annotations }: Metadata) => Date.parse(annotations?.[USED_AT] ?? '');
    // Of what has no workspace nobody says that it is at work: an image is being fetched there.
    const idle = pods
      .filter((pod) => !pod.deletionTimestamp && pod.labels?.[WORKSPACE_LABEL] && this.isIdle(pod, NOT_AT_WORK_MS))
      .sort((a, b) => usedAt(a) - usedAt(b));
    for (const { name, resourceVersion } of idle.slice(0, GIVE_WAY))
      await this.api.remove('pods', name, { resourceVersion }).catch(unlessConflict);
    return idle.length > 0 || pods.some((pod) => pod.deletionTimestamp);
  }

  private isIdle({ annotations }: Metadata, idleMs: number): boolean {
    return this.api.now() - Date.parse(annotations?.[USED_AT] ?? '') >= idleMs;
  }

  private readonly usedAt = (): string => new Date(this.api.now()).toISOString();

  private annotate<T>(kind: Kind, name: string): Promise<T | null> {
    return orNull(this.api.annotate<T>(kind, name, { [USED_AT]: this.usedAt() }));
  }

  private async touch(pod: string, workspace: string): Promise<void> {
    await this.annotate('pods', pod);
    await this.annotate('persistentvolumeclaims', claimName(workspace));
  }

  private async useVolume(workspace: string): Promise<void> {
    const claim = await this.annotate<KubernetesObject>('persistentvolumeclaims', claimName(workspace));
    if (!claim) await this.api.create('persistentvolumeclaims', claimManifest(workspace, this.usedAt())).catch(unlessConflict);
    else if (claim.metadata.deletionTimestamp) throw new SandboxFailed('Its workspace is being removed.', false);
  }

  /** The pod of that name, once commands can run in it; it is made where there is none, or one that is over. */
  private async running(name: string, manifest: () => object, signal: AbortSignal): Promise<Pod> {
    const cut = new Cutoff(signal, START_MS);
    let pod = await this.annotate<Pod>('pods', name);
    let isNew = false;
    let full: KubernetesRefused | undefined;
    try {
      for (let wait = LOOK_MS; ; wait = Math.min(wait * 1.5, MAX_LOOK_MS)) {
        if (!pod) {
          try {
            await this.api.create('pods', manifest()).catch(unlessConflict);
            isNew = true;
          } catch (error) {
            if (!isOverQuota(error)) throw error;
            // The room of a pod that goes is free when it has gone, and may be another's by then: so more is made, once the quota has been counted anew.
            const isCounted = !full || wait >= MAX_LOOK_MS;
            if (isCounted && !(await this.makeRoom()) && !full) throw error;
            full = error;
          }
        } else if (isOver(pod)) {
          await this.kill(pod);
          if (isNew && hasEnded(pod)) throw new StartFailed(startFailureOf(pod), false);
        } else {
          if (isRunning(pod)) return pod;
          const problem = startProblem(pod);
          if (problem) throw new SandboxFailed(problem, false);
        }
        await sleep(wait, undefined, { signal: cut.signal });
        pod = await orNull(this.api.get<Pod>('pods', name));
      }
    } catch (error) {
      signal.throwIfAborted();
      // The next command tries anew.
      if (pod && (cut.isLate || error instanceof SandboxFailed)) await this.kill(pod);
      if (!cut.isLate) throw error;
      throw pod || !full ? new SandboxFailed(waitingFor(pod), false, { cause: error }) : full;
    } finally {
      cut.release();
    }
  }

  /** What the cluster says is for operators. */
  private async asFailure<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof KubernetesRefused)) throw error;
      this.logger.warn(error);
      throw new SandboxFailed(isOverQuota(error) ? NO_ROOM : 'The cluster did not make the sandbox.', false, { cause: error });
    }
  }
}

/** The image is there, and what should run in it is not. */
class StartFailed extends SandboxFailed {}

const isOverQuota = (error: unknown): error is KubernetesRefused =>
  error instanceof KubernetesRefused && error.status === 403 && error.message.includes('exceeded quota');
const isStatus = (error: unknown, status: number) => error instanceof KubernetesRefused && error.status === status;

const orNull = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (isStatus(error, NOT_FOUND)) return null;
    throw error;
  });

function unlessConflict(error: unknown): void {
  if (!isStatus(error, CONFLICT)) throw error;
}
