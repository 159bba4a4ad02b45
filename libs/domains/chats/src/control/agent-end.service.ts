import { Injectable } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { NO_CALLER, Database, type Tx } from '@aps/platform/database';
import type { NewEvent } from '../state/chat.types';
import { ChatLog } from '../state/chat-log';
import { ChatEnds } from '../state/chat-ends';
import { ChatState } from '../state/chat-state.repository';
import { ChildWaits } from '../delegation/child-waits';
import { HitlService } from '../hitl/hitl.service';
import { ControlRepository } from './control.repository';
import { Teardown } from './teardown';

const BATCH = 100;

/**
 * Ends what the chats of a deleted agent do. A message, a continue or a claim that began before the agent was deleted may come after
 * this; then the claim of its turn finds the agent deleted and ends it.
 */
@Injectable()
export class AgentEndService {
  constructor(
    private readonly db: Database,
    private readonly control: ControlRepository,
    private readonly chats: ChatState,
    private readonly teardown: Teardown,
    private readonly log: ChatLog,
    private readonly questions: HitlService,
    private readonly children: ChildWaits,
    private readonly ends: ChatEnds,
  ) {}

  /** Does nothing for chats that are over already, so it may run twice. */
  async endChats(orgId: string, agentId: string, signal: AbortSignal): Promise<void> {
    const scope = OrgScope.system(orgId, 'agent deleted');
    let after: string | null = null;
    for (;;) {
      const ids: string[] = await this.control.busyOf(this.db, orgId, agentId, after, BATCH);
      for (const id of ids) {
        signal.throwIfAborted();
        await this.db.transaction(NO_CALLER, (tx) => this.endChat(tx, scope, agentId, id));
      }
      if (ids.length < BATCH) return;
      after = ids[ids.length - 1];
    }
  }

  private async endChat(tx: Tx, scope: OrgScope, agentId: string, chatId: string): Promise<void> {
    const chat = await this.control.lock(tx, scope, agentId, chatId);
    if (!chat) return;
    const at = this.db.now();
    const { events: cancelled } = await this.questions.cancelForChat(tx, chat.id, 'agent_deleted');
    const events: NewEvent[] = [];
    if (chat.turn) {
      const waits = await this.teardown.endTurns(tx, [chat], 'agent_deleted', at);
      await this.chats.clearTurns(tx, [chat.id], at, chat.turn.status === 'running');
      await this.chats.setStopReason(tx, chat.id, 'agent_deleted');
      await this.children.abandonOf(tx, [chat.id]);
      events.push(...(waits.get(chat.id) ?? []), {
        type: 'status_changed',
        data: { from: chat.status, to: 'ACTIVE', stop_reason: 'agent_deleted', pause: null },
      });
    }
    await this.log.tell(tx, chat.id, [...cancelled, ...events], at);
    if (chat.turn) await this.ends.tell(tx, chat, 'stopped', chat.turn.id);
  }
}
