import { Injectable } from '@nestjs/common';
import type { CreditBucket, LedgerKind } from '@aps/entities';
import { statement, type Tx } from '@aps/platform/database';

/** What an organization has, in credits; decimal texts. */
export interface Balances {
  /** Granted; the only one below zero. */
  balance: string;
  purchased_balance: string;
  purchase_total: string;
}

/** A movement of credits and what caused it. */
export interface Posting {
  kind: LedgerKind;
  /** Names the cause: it moves credits once, however often it comes. */
  key: string;
  /** Null takes `amount` away: from what is granted, then from what was bought, then from what is granted below zero. */
  bucket: CreditBucket | null;
  /** With a bucket it is signed; never zero. */
  amount: string;
  ref?: { type: string; id: string };
  reason?: string | null;
  actor_id?: string | null;
}

const LOCK = statement<Balances>(`
  SELECT trim_scale(c.balance)::text AS balance, trim_scale(c.purchased_balance)::text AS purchased_balance, trim_scale(c.purchase_total)::text AS purchase_total
  FROM credit_lock($1) c`);

const POST = statement<{ posted: boolean }>(`SELECT credit_post($1, $2, $3, $4, $5, $6, $7, NULL, $8, $9) AS posted`);

/** The way into the ledger for all but receipts, which post themselves (see docs/adr/0022-the-ledger-moves-the-balance.md). */
@Injectable()
export class Ledger {
  /** What an organization has, held until the transaction ends. It is the last lock that a transaction takes. */
  async lock(tx: Tx, orgId: string): Promise<Balances> {
    return (await tx.query(LOCK, [orgId]))[0];
  }

  /** @returns false where the key has posted the same already */
  async post(tx: Tx, orgId: string, { bucket, amount, kind, key, ref, reason, actor_id }: Posting): Promise<boolean> {
    const values = [orgId, bucket, amount, kind, key, ref?.type ?? null, ref?.id ?? null, reason ?? null, actor_id ?? null];
    return (await tx.query(POST, values))[0].posted;
  }
}
