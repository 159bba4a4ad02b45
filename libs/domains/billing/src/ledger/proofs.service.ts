import { Injectable, Logger } from '@nestjs/common';
import { LedgerProof } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, NO_CALLER, Table } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { NIGHT_MS, ProofQueries } from './proof.queries';
import { ProofsRepository } from './proofs.repository';

const DAY_S = 86_400;

/** Proofs of all credits that are computed apart from any request, and what the newest of them says. */
@Injectable()
export class ProofsService {
  private readonly logger = new Logger('Proofs');
  private readonly proofs = new Table(LedgerProof, 'Proof');

  constructor(
    private readonly db: Database,
    private readonly queries: ProofQueries,
    private readonly repository: ProofsRepository,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
  ) {}

  /** Has one computed. @returns its id */
  request(operator: ActingUser): Promise<string> {
    return this.db.transaction(operator, async (tx) => {
      const { id } = await this.proofs.insert(tx, { requested_by: operator.userId });
      await this.outbox.enqueue(tx, 'billing.prove', { proof_id: id });
      await this.audit.record(tx, operator, 'credits.proof_requested', { kind: 'ledger_proof', id });
      return id;
    });
  }

  /** Computes one that was asked for; again is no change. */
  async compute(id: string): Promise<void> {
    if ((await this.proofs.find(this.db, id))?.checked_at !== null) return;
    const { ok, checked_at, invariants } = await this.queries.prove(null, NIGHT_MS);
    const violations = Object.fromEntries(invariants.map((invariant) => [invariant.name, invariant.violations]));
    if (!ok) this.logger.error({ msg: 'Credits are not what their rows say', violations });
    await this.db.transaction(NO_CALLER, (tx) => this.proofs.update(tx, id, { ok, checked_at, violations }));
  }

  /** Computes the one of the night, where none was for a day. @returns how many were computed */
  async nightly(): Promise<number> {
    if (await this.repository.isRecent(this.db, DAY_S)) return 0;
    const { id } = await this.db.transaction(NO_CALLER, (tx) => this.proofs.insert(tx, {}));
    await this.compute(id);
    return 1;
  }
}
