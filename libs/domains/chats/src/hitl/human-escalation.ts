import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Escalations, type Escalated, type Escalation } from '@aps/decisions';
import type { Tx } from '@aps/platform/database';
import type { ToolContext, ToolEvent } from '@aps/tools';
import { HitlService } from './hitl.service';

/** Decisions that agents hand up become approvals, where the plan routes them to humans. */
@Injectable()
export class HumanEscalation implements Escalation {
  constructor(
    escalations: Escalations,
    private readonly hitl: HitlService,
    private readonly entitlements: Entitlements,
  ) {
    escalations.bind(this);
  }

  async ask(tx: Tx, context: ToolContext, { prompt, call }: Escalated): Promise<{ ref: string; events: ToolEvent[] } | null> {
    const { orgId, chatId, agentId, turnId, stepNo, toolCallId } = context;
    if (!(await this.entitlements.has(orgId, 'hitl_routing', tx))) return null;
    const { id, events } = await this.hitl.request(tx, {
      orgId,
      chatId,
      agentId,
      turnId,
      stepNo,
      toolCallId,
      kind: 'approval',
      prompt,
      call,
    });
    return { ref: id, events };
  }
}
