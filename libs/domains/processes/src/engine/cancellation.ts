import { Injectable } from '@nestjs/common';
import { CloseService, HitlService } from '@aps/chats';
import { OrgScope } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { Database, type Tx } from '@aps/platform/database';
import type { StepError } from '@aps/entities';
import { ChatListener } from './chat-listener';
import { humanAnswered, type RunEvent } from './journal';
import { JournalRepository } from './journal.repository';
import { CHATS_OF, CHILDREN, LOCK_LIVE, TREE } from './process-run.sql';
import { RunEnds } from './run-ends';

/** Runs that one statement ends. */
const AT_ONCE = 1_000;

/** Ends runs by somebody's wish, with all that they have begun: at once, or nothing of it. */
@Injectable()
export class Cancellation {
  constructor(
    private readonly db: Database,
    private readonly journal: JournalRepository,
    private readonly ends: RunEnds,
    private readonly closing: CloseService,
    private readonly questions: HitlService,
    private readonly listener: ChatListener,
    private readonly broadcaster: Broadcaster,
  ) {}

  /**
   * Cancels runs and all below them that is not over. Chats are locked first, then runs, deepest first, as everybody does.
   *
   * @param with.tellParents whether the runs whose steps these are go on with it
   * @param with.owned a run that the caller goes on with, and that hears of its own steps by him
   * @returns the runs that were cancelled
   */
  async cancelTrees(
    tx: Tx,
    orgId: string,
    runIds: string[],
    { tellParents, owned }: { tellParents: boolean; owned?: string },
  ): Promise<string[]> {
    const cancelled: string[] = [];
    // What a run has begun between the look and the lock is found by the next look: then it begins nothing any more.
    for (;;) {
      const tree = (await tx.query(TREE, [runIds])).map(({ id }) => id);
      if (tree.length === 0) {
        await this.listener.noteCut(tx);
        return cancelled;
      }
      const ended = await this.endChats(tx, orgId, tree);
      const telling = new Set(tellParents ? runIds : []);
      for (let i = 0; i < tree.length; i += AT_ONCE)
        cancelled.push(...(await this.end(tx, tree.slice(i, i + AT_ONCE), { status: 'cancelled' }, CANCELLED, { ended, owned, telling })));
    }
  }

  /** Ends a run for a fault, with all that it has begun. One that is over stays so. */
  async fail(tx: Tx, orgId: string, runId: string, error: StepError): Promise<void> {
    const children = (await tx.query(CHILDREN, [runId])).map(({ id }) => id);
    if (children.length) await this.cancelTrees(tx, orgId, children, { tellParents: false });
    const ended = await this.endChats(tx, orgId, [runId]);
    const told: RunEvent = { type: 'run_finished', step_id: null, path: null, metadata: { status: 'failed' } };
    await this.end(tx, [runId], { status: 'failed', error }, told, { ended, telling: new Set([runId]) });
    await this.listener.noteCut(tx);
  }

  /** @returns those that it has ended */
  private async endChats(tx: Tx, orgId: string, runIds: string[]): Promise<Set<string>> {
    const chats = (await tx.query(CHATS_OF, [runIds])).flatMap(({ chat_id }) => (chat_id ? [chat_id] : []));
    await this.endAll(tx, orgId, chats);
    return new Set(chats);
  }

  private async endAll(tx: Tx, orgId: string, chats: string[]): Promise<void> {
    if (chats.length) await this.listener.deaf(tx, () => this.closing.endTrees(tx, OrgScope.system(orgId, 'process'), chats));
  }

  /**
   * @param ids of one organization, in the order in which they are locked
   * @param with.ended chats that have been ended before their runs were locked
   * @param with.telling runs whose parents are told
   * @returns those that were not over
   */
  private async end(
    tx: Tx,
    ids: string[],
    outcome: { status: 'cancelled' } | { status: 'failed'; error: StepError },
    told: RunEvent,
    { ended, telling, owned }: { ended: Set<string>; telling: Set<string>; owned?: string },
  ): Promise<string[]> {
    const runs = await tx.query(LOCK_LIVE, [ids]);
    if (runs.length === 0) return [];
    const live = runs.map(({ id }) => id);
    const at = this.db.now();
    const steps = await this.journal.giveUpSteps(tx, live, at);
    // Begun between the look and the lock. Should such a chat end at this moment, and its end wait for this run, one of both is done again.
    const late = steps.flatMap(({ chat_id }) => (chat_id && !ended.has(chat_id) ? [chat_id] : []));
    await this.endAll(tx, runs[0].org_id, late);
    const asked = steps.filter(({ hitl_request_id }) => hitl_request_id !== null);
    const requests = asked.map(({ hitl_request_id }) => hitl_request_id!);
    await this.questions.close(tx, requests, 'cancelled', 'run_over');
    await this.journal.end(tx, live, outcome, at);
    const events = new Map(live.map((id) => [id, [] as RunEvent[]]));
    for (const step of asked) events.get(step.run_id)!.push(humanAnswered(step));
    for (const ofRun of events.values()) ofRun.push(told);
    await this.journal.tell(tx, events);
    for (const run of runs) {
      const tells = telling.has(run.id) && (owned === undefined || run.parent_run_id !== owned);
      await this.ends.tell(tx, { ...run, parent_step_id: tells ? run.parent_step_id : null }, outcome);
      if (run.status === 'running') tx.afterCommit(() => void this.broadcaster.send('run.stop', { org_id: run.org_id, run_id: run.id }));
    }
    return live;
  }
}

const CANCELLED: RunEvent = { type: 'run_cancelled', step_id: null, path: null, metadata: { status: 'cancelled' } };
