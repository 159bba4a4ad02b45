import { Injectable } from '@nestjs/common';
import type { Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { capResult, ToolCatalog } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import type { NewEvent } from '../state/chat.types';
import { OUTCOME_UNKNOWN } from './transcript';
import { TurnRepository, type AnsweredCall, type CallResult } from './turn.repository';

export const toolCallsTotal = counter('tool_calls_total', 'Tool calls, by outcome', ['tool', 'outcome']);

/** What a call has come to, as the chat's readers are told. */
export const toolResultEvent = ({ messageId, toolCallId, toolName, status, content, turnId }: CallResult): NewEvent => ({
  type: 'tool_result',
  data: { message_id: messageId, tool_call_id: toolCallId, name: toolName, status, content, turn_id: turnId },
});

/** Writes down what calls have come to whose turns go on in no worker. */
@Injectable()
export class ToolResults {
  constructor(
    private readonly turns: TurnRepository,
    private readonly catalog: ToolCatalog,
  ) {}

  /**
   * Answers calls of a turn that this transaction has locked and is about to end.
   *
   * @returns what to tell the chat's readers
   */
  async answer(tx: Tx, turnId: string, calls: AnsweredCall[], at: Date): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const call of calls) {
      const result: CallResult = {
        turnId,
        stepNo: call.step_no,
        messageId: uuidv7(),
        content: capResult(call.content),
        toolCallId: call.tool_call_id,
        toolName: call.tool_name,
        status: call.status,
      };
      await this.turns.commitToolStep(tx, { ...result, wait: null, at });
      events.push(toolResultEvent(result));
    }
    return events;
  }

  /**
   * Answers the calls of locked turns that have gone out, may not be made twice, and of which nobody will know what they came to.
   *
   * @returns what to tell each chat's readers, by chat
   */
  async giveUp(tx: Tx, turnIds: string[], at: Date): Promise<Map<string, NewEvent[]>> {
    const told = new Map<string, NewEvent[]>();
    // A turn makes its calls one by one, so there is one of a turn at most, and there is none of nearly every one.
    for (const call of await this.turns.sentCalls(tx, turnIds)) {
      const lost: AnsweredCall = { ...call, content: OUTCOME_UNKNOWN, status: 'outcome_unknown' };
      told.set(call.chat_id, await this.answer(tx, call.turn_id, [lost], at));
      tx.afterCommit(() => toolCallsTotal.inc({ tool: this.catalog.labelOf(call.tool_name), outcome: 'outcome_unknown' }));
    }
    return told;
  }
}
