import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Database, NO_CALLER, statement } from '@aps/platform/database';
import { OF_ALL, OF_ONE, type InvariantRow } from './proof.sql';

/** Whether credits are what their rows say. */
export interface Proof {
  ok: boolean;
  checked_at: Date;
  /** How many organizations were looked at. */
  organizations: number;
  invariants: (InvariantRow & { name: string; ok: boolean })[];
}

// One moment for all of it; and it may take longer than a request may.
const SNAPSHOT = statement('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
const PATIENCE = statement(`SET LOCAL statement_timeout = '60s'`);
const ALONE = statement<{ alone: boolean }>(`SELECT pg_try_advisory_xact_lock(hashtextextended('ledger-proof', 0)) AS alone`);
const ORGANIZATIONS = statement<{ n: number; checked_at: Date }>(
  `SELECT count(*)::int AS n, now() AS checked_at FROM org_credits WHERE $1::uuid IS NULL OR org_id = $1`,
);

/** Computes balances, burns and grants anew, from rows. Reads alone: nobody waits for it. */
@Injectable()
export class ProofQueries {
  constructor(private readonly db: Database) {}

  /**
   * @param orgId null for every organization
   * @throws DomainError 409 `proof_running` while another is computed
   */
  prove(orgId: string | null): Promise<Proof> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(SNAPSHOT);
      await tx.execute(PATIENCE);
      if (!(await tx.query(ALONE))[0].alone)
        throw new DomainError('proof_running', 'Another proof is being computed; ask again when it is done.');
      const [{ n: organizations, checked_at }] = await tx.query(ORGANIZATIONS, [orgId]);
      const proof: Proof = { ok: true, checked_at, organizations, invariants: [] };
      for (const [name, statement] of Object.entries(orgId === null ? OF_ALL : OF_ONE)) {
        const [row] = await tx.query(statement, orgId === null ? [] : [orgId]);
        proof.invariants.push({ name, ok: row.violations === 0, ...row });
        proof.ok &&= row.violations === 0;
      }
      return proof;
    });
  }
}
