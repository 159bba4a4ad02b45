import { Injectable } from '@nestjs/common';
import { CloseService, HitlService } from '@aps/chats';
import { OrgScope } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { Database, type Tx } from '@aps/platform/database';
import type { StepError } from '@aps/entities';
import { ChatListener } from './chat-listener';
import { humanAnswered, type RunEvent } from './journal';
import { JournalRepository } from './journal.repository';
import { CHATS_OF, CHILDREN, TREE } from './process-run.sql';
import { RunEnds } from './run-ends';
import { Wakes } from './wakes';

/** Ends runs by somebody's wish, with all that they have begun: at once, or nothing of it. */
@Injectable()
export class Cancellation {
  constructor(
    private readonly db: Database,
    private readonly journal: JournalRepository,
    private readonly wakes: Wakes,
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
      for (const id of tree)
        if (await this.end(tx, id, { status: 'cancelled' }, CANCELLED, { ended, owned, tellParent: tellParents && runIds.includes(id) }))
          cancelled.push(id);
    }
  }

  /** Ends a run for a fault, with all that it has begun. One that is over stays so. */
  async fail(tx: Tx, orgId: string, runId: string, error: StepError): Promise<void> {
    const children = (await tx.query(CHILDREN, [runId])).map(({ id }) => id);
    if (children.length) await this.cancelTrees(tx, orgId, children, { tellParents: false });
    const ended = await this.endChats(tx, orgId, [runId]);
    const told: RunEvent = { type: 'run_finished', step_id: null, path: null, metadata: { status: 'failed' } };
    await this.end(tx, runId, { status: 'failed', error }, told, { ended, tellParent: true });
    await this.listener.noteCut(tx);
  }

  /** @returns those that it has ended */
  private async endChats(tx: Tx, orgId: string, runIds: string[]): Promise<string[]> {
    const chats = (await tx.query(CHATS_OF, [runIds])).flatMap(({ chat_id }) => (chat_id ? [chat_id] : []));
    await this.endAll(tx, orgId, chats);
    return chats;
  }

  private async endAll(tx: Tx, orgId: string, chats: string[]): Promise<void> {
    if (chats.length) await this.listener.deaf(tx, () => this.closing.endTrees(tx, OrgScope.system(orgId, 'process'), chats));
  }

  /**
   * @param with.ended chats that have been ended before their runs were locked
   * @returns false where it was over
   */
  private async end(
    tx: Tx,
    id: string,
    outcome: { status: 'cancelled' } | { status: 'failed'; error: StepError },
    told: RunEvent,
    { ended, tellParent, owned }: { ended: string[]; tellParent: boolean; owned?: string },
  ): Promise<boolean> {
    const run = await this.wakes.lock(tx, id);
    if (!run || !['queued', 'running', 'waiting'].includes(run.status)) return false;
    const at = this.db.now();
    const steps = await this.journal.giveUpSteps(tx, id, at);
    // Begun between the look and the lock. Should such a chat end at this moment, and its end wait for this run, one of both is done again.
    const late = steps.flatMap(({ chat_id }) => (chat_id && !ended.includes(chat_id) ? [chat_id] : []));
    await this.endAll(tx, run.org_id, late);
    const asked = steps.filter(({ hitl_request_id }) => hitl_request_id !== null);
    const requests = asked.map(({ hitl_request_id }) => hitl_request_id!);
    await this.questions.close(tx, requests, 'cancelled', 'run_over');
    await this.journal.end(tx, id, outcome, at);
    await this.journal.tell(tx, id, [...asked.map(humanAnswered), told]);
    const tells = tellParent && (owned === undefined || run.parent_run_id !== owned);
    await this.ends.tell(tx, { ...run, parent_step_id: tells ? run.parent_step_id : null }, outcome);
    if (run.status === 'running') tx.afterCommit(() => void this.broadcaster.send('run.stop', { org_id: run.org_id, run_id: id }));
    return true;
  }
}

const CANCELLED: RunEvent = { type: 'run_cancelled', step_id: null, path: null, metadata: { status: 'cancelled' } };
