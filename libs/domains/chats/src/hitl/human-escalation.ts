import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Escalations, type Escalated, type Escalation } from '@aps/decisions';
import { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import type { ToolContext, ToolEvent } from '@aps/tools';
import { askerOf, HitlService } from './hitl.service';

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
    if (!(await this.entitlements.has(context.orgId, 'hitl_routing', tx))) return null;
    const tool_call = call ? { id: context.toolCallId, ...call } : null;
    const { id, event } = await this.hitl.request(tx, OrgScope.system(context.orgId, 'escalated decision'), {
      ...askerOf(context),
      kind: 'approval',
      prompt,
      tool_call,
    });
    return { ref: id, events: [event] };
  }
}
