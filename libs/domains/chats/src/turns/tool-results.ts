import { Injectable } from '@nestjs/common';
import type { Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { ToolCatalog } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import type { NewEvent } from '../state/chat.types';
import { OUTCOME_UNKNOWN } from './transcript';
import { TurnRepository, type CallStatus } from './turn.repository';

export const toolCallsTotal = counter('tool_calls_total', 'Tool calls, by outcome', ['tool', 'outcome']);

/** What a call has come to. */
export interface CallResult {
  turnId: string;
  stepNo: number;
  messageId: string;
  content: string;
  toolCallId: string;
  toolName: string;
  status: CallStatus;
}

/** The same as the chat's readers are told. */
export const toolResultEvent = ({ messageId, toolCallId, toolName, status, content, turnId }: CallResult): NewEvent => ({
  type: 'tool_result',
  data: { message_id: messageId, tool_call_id: toolCallId, name: toolName, status, content, turn_id: turnId },
});

/** Calls that have gone out, may not be made twice, and whose turn ends before anybody knows what they came to. */
@Injectable()
export class SentCalls {
  constructor(
    private readonly turns: TurnRepository,
    private readonly catalog: ToolCatalog,
  ) {}

  /**
   * Answers the calls of turns that this transaction has locked and is about to end: nobody goes on with them who would.
   *
   * @returns what to tell each chat's readers, by chat
   */
  async giveUp(tx: Tx, turnIds: string[], at: Date): Promise<Map<string, NewEvent[]>> {
    const told = new Map<string, NewEvent[]>();
    // A turn makes its calls one by one, so there is one of a turn at most, and there is none of nearly every one.
    for (const call of await this.turns.sentCalls(tx, turnIds)) {
      const result: CallResult = {
        turnId: call.turn_id,
        stepNo: call.step_no,
        messageId: uuidv7(),
        content: OUTCOME_UNKNOWN,
        toolCallId: call.tool_call_id,
        toolName: call.tool_name,
        status: 'outcome_unknown',
      };
      await this.turns.commitToolStep(tx, { ...result, wait: null, at });
      told.set(call.chat_id, [toolResultEvent(result)]);
      tx.afterCommit(() => toolCallsTotal.inc({ tool: this.catalog.slugOf(call.tool_name) ?? 'unknown', outcome: 'outcome_unknown' }));
    }
    return told;
  }
}
