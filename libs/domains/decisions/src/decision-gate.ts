import { Injectable } from '@nestjs/common';
import type { Db } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { isCovered, labelOf, type Tool } from '@aps/tools';
import { NEWEST_KIND } from './decisions.sql';

const refused = counter('decision_gate_refusals_total', 'Tool calls that were refused because no recorded decision named their tool', [
  'tool',
]);

/** What the gate looks at of a tool. */
export type GatedTool = Pick<Tool, 'slug' | 'name' | 'accessLevel' | 'hints' | 'decisionMode' | 'connectionId'>;

/** Lets calls that need a recorded decision pass where there is one. */
@Injectable()
export class DecisionGate {
  /**
   * Asked before a call is made: in the transaction that would run it, or before the call goes out.
   *
   * @param turn `decision_log` as it was at the start of the turn; where it is off nothing is asked for. `hands_up`: the call stands beside one of its
   *   answer that hands it up, or may: it is not made, whatever else was recorded
   * @returns what the model is told instead of a result; null when the call may run. A call that no mode covers asks no database
   */
  async refusal(db: Db, turn: { id: string; decision_log: boolean; hands_up?: boolean }, tool: GatedTool): Promise<string | null> {
    if (!turn.decision_log || !isCovered(tool.decisionMode ?? 'off', tool)) return null;
    const [newest] = turn.hands_up ? [] : await db.query(NEWEST_KIND, [turn.id, [tool.slug, tool.name]]);
    if (newest?.kind === 'act') return null;
    refused.inc({ tool: labelOf(tool) });
    if (turn.hands_up) {
      return (
        `${tool.name} was not run: it needs a recorded decision, and the same answer has a record_decision with kind "escalate", whose result says what comes ` +
        `of it. If this was to be another call, make it again in an answer of its own, after a decision to "act" that names "${tool.slug}".`
      );
    }
    return (
      `${tool.name} was not run: it needs a recorded decision. Call record_decision with kind "act" and tool_slug "${tool.slug}" in this turn, cite the rule that you ` +
      `act on as its basis, and then call ${tool.name} again. If no rule allows it, record "no_act" or "escalate" instead and do not call it.`
    );
  }
}
