import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { OrgRuntimeService } from '@aps/inference';

/** Whether an organization keeps a decision log. What is in it can be read either way. */
@Injectable()
export class DecisionLog {
  constructor(
    private readonly entitlements: Entitlements,
    private readonly runtime: OrgRuntimeService,
  ) {}

  /** Asked once at the start of a turn: its plan includes the log, and nobody has switched it off. */
  async isOn(orgId: string): Promise<boolean> {
    return (await this.entitlements.has(orgId, 'decision_log')) && (await this.runtime.effective(orgId)).decision_log_enabled;
  }
}
