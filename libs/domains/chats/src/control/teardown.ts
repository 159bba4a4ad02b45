import { Injectable } from '@nestjs/common';
import { CommandsRepository } from '@aps/environments';
import { Broadcaster } from '@aps/platform/broadcast';
import type { Tx } from '@aps/platform/database';
import type { NewEvent } from '../state/chat.types';
import { ChildWaits } from '../delegation/child-waits';
import { ToolResults } from '../turns/tool-results';
import { TurnWaits, type AbandonReason } from '../turns/turn-waits';
import { TurnRepository } from '../turns/turn.repository';
import { ControlRepository, type ControlledChat } from './control.repository';

/** Ends what chats do, whatever it is. What the chats are afterwards is the caller's to write. */
@Injectable()
export class Teardown {
  constructor(
    private readonly control: ControlRepository,
    private readonly turns: TurnRepository,
    private readonly waits: TurnWaits,
    private readonly results: ToolResults,
    private readonly children: ChildWaits,
    private readonly commands: CommandsRepository,
    private readonly broadcaster: Broadcaster,
  ) {}

  /**
   * Ends the turns of locked chats with their jobs, and lets go of the child chats, timers and slots that they wait for; questions to
   * humans are left alone. A call that is out and may not be repeated gets its end here: no worker goes on with it. Workers are told after the commit; the fence holds before that.
   *
   * @returns what to tell each chat's readers, by chat; a chat has an entry only where there is something
   */
  async endTurns(tx: Tx, chats: ControlledChat[], reason: AbandonReason, at: Date): Promise<Map<string, NewEvent[]>> {
    const busy = chats.filter((c) => c.turn);
    if (busy.length === 0) return new Map();
    const events = await this.results.giveUp(
      tx,
      busy.map((c) => c.turn!.id),
      at,
    );
    const parents = busy.filter((c) => c.turn?.wait?.kind === 'children');
    // Of many, few have anything that is still to be told.
    const unread =
      parents.length > 1
        ? await this.control.withUnread(
            tx,
            parents.map((c) => c.id),
          )
        : null;
    if (unread)
      await this.children.abandonOf(
        tx,
        parents.map((c) => c.id),
      );
    for (const { id, turn } of parents) {
      if (unread && !unread.has(id)) continue;
      const told = await this.waits.abandon(tx, turn!.wait!, reason);
      if (told.length) events.set(id, [...(events.get(id) ?? []), ...told]);
    }
    await this.commands.cancelOfTurns(
      tx,
      busy.map((c) => c.turn!.id),
    );
    await this.turns.endAll(
      tx,
      busy.map((c) => c.id),
      at,
    );
    const running = busy.filter((c) => c.turn?.status === 'running');
    if (running.length) await this.turns.runs.dispatchParked(tx, busy[0].org_id, running.length);
    tx.afterCommit(() => {
      for (const { org_id, id, turn } of running)
        this.broadcaster.send('chat.stop', { org_id, chat_id: id, turn_id: turn!.id, at: at.toISOString() });
    });
    return events;
  }
}
