import { Injectable } from '@nestjs/common';
import type { Tx } from '@aps/platform/database';
import type { AccessLevel, ToolContext, ToolEvent } from '@aps/tools';

/** What a human is to decide. */
export interface Escalated {
  prompt: string;
  /** Runs exactly so when it is approved; absent where the agent named no call that could. */
  call?: { tool_slug: string; arguments: Record<string, unknown>; access_level: AccessLevel };
}

/** Whoever can ask humans. */
export type Escalation = Pick<Escalations, 'ask'>;

/** Where decisions are handed up. The domain that knows how turns wait stands above this one, and binds itself; until then nobody is asked. */
@Injectable()
export class Escalations {
  private bound: Escalation | undefined;

  bind(escalation: Escalation): void {
    this.bound = escalation;
  }

  /**
   * Asks in the transaction of the call that hands the decision up.
   *
   * @returns what the call then waits for, and what to tell the chat's readers; null when the organization asks nobody
   */
  async ask(tx: Tx, context: ToolContext, what: Escalated): Promise<{ ref: string; events: ToolEvent[] } | null> {
    return (await this.bound?.ask(tx, context, what)) ?? null;
  }
}
