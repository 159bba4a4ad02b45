import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Database, NO_CALLER, statement, type Statement } from '@aps/platform/database';
import { AT_LEISURE, REQUEST_MS } from './at-leisure.sql';
import { OF_ALL, OF_ONE, type InvariantRow } from './proof.sql';

/** Whether credits are what their rows say. */
export interface Proof {
  ok: boolean;
  checked_at: Date;
  /** How many organizations were looked at. */
  organizations: number;
  invariants: (InvariantRow & { ok: boolean })[];
}

const SNAPSHOT = statement('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
/** Milliseconds that each statement of a proof may take that nobody waits for. */
export const NIGHT_MS = 600_000;
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
   * @param timeoutMs of each statement
   * @throws DomainError 409 `proof_running` while another is computed
   */
  prove(orgId: string | null, timeoutMs = REQUEST_MS): Promise<Proof> {
    const atLeisure = <Row>(sql: Statement<Row>): Statement<Row> => ({ ...sql, timeoutMs });
    return this.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(SNAPSHOT);
      await tx.execute(AT_LEISURE, [String(timeoutMs)]);
      if (!(await tx.query(ALONE))[0].alone)
        throw new DomainError('proof_running', 'Another proof is being computed; ask again when it is done.');
      const [{ n: organizations, checked_at }] = await tx.query(atLeisure(ORGANIZATIONS), [orgId]);
      const proof: Proof = { ok: true, checked_at, organizations, invariants: [] };
      for (const statement of orgId === null ? OF_ALL : OF_ONE) {
        for (const row of await tx.query(atLeisure(statement), orgId === null ? [] : [orgId])) {
          const ok = row.violations === 0;
          proof.invariants.push({ ...row, ok });
          proof.ok &&= ok;
        }
      }
      return proof;
    });
  }
}
