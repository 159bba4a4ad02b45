import { Injectable } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { gauge } from '@aps/platform/observability';
import { JobHandler } from '@aps/platform/queues';
import { ProofsRepository, type CreditHealth } from '../ledger/proofs.repository';
import { ProofsService } from '../ledger/proofs.service';

/** How often it is looked whether the proof of the night is due. */
const LOOK_S = 600;
/** Gauges are asked together; who draws one draws all. */
const FRESH_MS = 5_000;

/** Proves credits each night and when it is asked to, and tells operators how they are. */
@Injectable()
export class LedgerJobs {
  private health: { asked: number; value: Promise<CreditHealth> } | undefined;

  constructor(
    private readonly db: Database,
    private readonly proofs: ProofsService,
    private readonly repository: ProofsRepository,
    maintenance: Maintenance,
  ) {
    maintenance.register({ name: 'ledger_proof', everyS: LOOK_S, batch: 2, run: () => proofs.nightly() });
    gauge('ledger_invariant_violations', 'Rows of credits that break an invariant, by the newest proof', ['name'], async (g) => {
      for (const [name, n] of Object.entries((await this.ask()).violations)) g.set({ name }, n);
    });
    const draw = (of: (health: CreditHealth) => number) => async (g: { set: (value: number) => void }) => {
      g.set(of(await this.ask()));
    };
    gauge('ledger_proof_age_seconds', 'How long ago credits were proven', [], draw((health) => health.proof_age_s ?? 0)); // prettier-ignore
    gauge('credit_holds_amount', 'Credits that are held for model calls', [], draw((health) => health.held)); // prettier-ignore
    gauge('credit_holds_overdue', 'Holds of credits that nothing has ended for two hours', [], draw((health) => health.overdue)); // prettier-ignore
    gauge('credits_burned_24h', 'Credits that model calls have burned in 24 hours', [], draw((health) => health.burned)); // prettier-ignore
    gauge('credits_cost_24h_usd', 'What the calls of 24 hours have cost that burned credits', [], draw((health) => health.cost_usd)); // prettier-ignore
    gauge('credits_worth_24h_usd', 'What the credits burned in 24 hours are worth by the rate card', [], draw((health) => health.worth_usd)); // prettier-ignore
  }

  /** @throws Error to be run again later */
  @JobHandler('billing.prove')
  prove({ proof_id }: JobPayload<'billing.prove'>): Promise<void> {
    return this.proofs.compute(proof_id);
  }

  private ask(): Promise<CreditHealth> {
    if (!this.health || performance.now() - this.health.asked > FRESH_MS)
      this.health = { asked: performance.now(), value: this.repository.health(this.db) };
    return this.health.value;
  }
}
