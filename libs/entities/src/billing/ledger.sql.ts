import type { Extra } from '../schema-extras';
import { LEDGER_SUMMED_EVERY } from './billing.entities';

/** A function, and what triggers it. */
const fn = (signature: string, body: string): Extra => ({
  name: signature,
  up: `CREATE FUNCTION ${body}`,
  down: `DROP FUNCTION ${signature}`,
});
const trigger = (name: string, table: string, what: string): Extra => ({
  name,
  up: `CREATE TRIGGER ${name} ${what}`,
  down: `DROP TRIGGER ${name} ON ${table}`,
});

/**
 * The ledger of credits and the balances that it moves (docs/adr/0022-the-ledger-moves-the-balance.md).
 *
 * A row that is inserted moves the balance of its bucket, so neither can be without the other; nothing else moves a balance, and rows
 * neither change nor go. Whoever posts holds the row of the balances first: rows of an organization come one after another.
 */
export const LEDGER_EXTRAS: Extra[] = [
  // What every thousandth row says of all before it is summed from rows, and from no balance: so the balances can be held against it.
  // Not with ON CONFLICT DO NOTHING: the balance would have moved before the conflict is found. credit_post looks for the key first.
  fn(
    'credit_ledger_move()',
    `credit_ledger_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE org_credits SET ledger_seq = ledger_seq + 1,
        balance = balance + CASE NEW.bucket WHEN 'granted' THEN NEW.delta ELSE 0 END,
        purchased_balance = purchased_balance + CASE NEW.bucket WHEN 'purchased' THEN NEW.delta ELSE 0 END,
        purchase_total = purchase_total + CASE NEW.kind WHEN 'purchase' THEN NEW.delta ELSE 0 END
      WHERE org_id = NEW.org_id
      RETURNING ledger_seq, CASE NEW.bucket WHEN 'granted' THEN balance ELSE purchased_balance END INTO STRICT NEW.seq, NEW.balance_after;
      IF NEW.seq % ${LEDGER_SUMMED_EVERY} = 0 THEN
        SELECT NEW.delta + coalesce(sum(l.delta) FILTER (WHERE l.seq > NEW.seq - ${LEDGER_SUMMED_EVERY}), 0) + coalesce(max(l.sum_until), 0) INTO NEW.sum_until
        FROM credit_ledger l WHERE l.org_id = NEW.org_id AND l.seq >= NEW.seq - ${LEDGER_SUMMED_EVERY} AND l.seq < NEW.seq;
      END IF;
      RETURN NEW; END $$`,
  ),
  trigger('credit_ledger_moves', 'credit_ledger', 'BEFORE INSERT ON credit_ledger FOR EACH ROW EXECUTE FUNCTION credit_ledger_move()'),
  fn(
    'refuse_change()',
    `refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION '% of % is refused: what it says is changed by new rows of the ledger', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege'; END $$`,
  ),
  trigger(
    'credit_ledger_stays',
    'credit_ledger',
    'BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_ledger FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()',
  ),
  {
    name: 'credit_ledger_rights',
    up: 'REVOKE UPDATE, DELETE, TRUNCATE ON credit_ledger FROM PUBLIC, CURRENT_USER',
    down: 'GRANT UPDATE, DELETE, TRUNCATE ON credit_ledger TO CURRENT_USER',
  },
  trigger(
    'org_credits_are_moved',
    'org_credits',
    'BEFORE UPDATE ON org_credits FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change()',
  ),
  // The lock of all postings of an organization. Always the last lock that is taken, so nobody who has it waits for another.
  fn(
    'credit_lock(uuid)',
    `credit_lock(org uuid) RETURNS org_credits LANGUAGE plpgsql AS $$ DECLARE c org_credits; BEGIN
      SELECT * INTO c FROM org_credits WHERE org_id = org FOR NO KEY UPDATE;
      IF NOT FOUND THEN
        INSERT INTO org_credits (org_id) VALUES (org) ON CONFLICT DO NOTHING;
        SELECT * INTO c FROM org_credits WHERE org_id = org FOR NO KEY UPDATE;
      END IF;
      RETURN c; END $$`,
  ),
  /*
   * Posts an amount to a bucket or, without one, takes it: from what is granted, then from what was bought, then from what is granted
   * below zero. Returns false where its key has posted the same already; the same key with something else is an error.
   */
  fn(
    'credit_post(uuid, text, numeric, text, text, text, text, int, text, uuid)',
    `credit_post(org uuid, into_bucket text, amount numeric, why text, its_key text, of_type text, of_id text, card int, explained text, who uuid)
      RETURNS boolean LANGUAGE plpgsql AS $$
      DECLARE
        c org_credits := credit_lock(org);
        asked bytea := sha256(convert_to(concat_ws('|', org, coalesce(into_bucket, 'both'), trim_scale(amount), why, coalesce(of_type, ''), coalesce(of_id, '')), 'UTF8'));
        known bytea; from_granted numeric; from_purchased numeric := 0;
      BEGIN
        SELECT content_hash INTO known FROM credit_ledger WHERE key = its_key;
        IF FOUND THEN
          IF known <> asked THEN RAISE EXCEPTION 'The ledger has another posting with the key %', its_key USING ERRCODE = 'unique_violation', CONSTRAINT = 'credit_ledger_key'; END IF;
          RETURN false;
        END IF;
        IF into_bucket IS NOT NULL THEN
          INSERT INTO credit_ledger (id, org_id, bucket, delta, kind, key, content_hash, ref_type, ref_id, rate_card_version, reason, actor_id, created_at)
          VALUES (uuidv7(), org, into_bucket, amount, why, its_key, asked, of_type, of_id, card, explained, who, clock_timestamp());
          RETURN true;
        END IF;
        from_granted := least(amount, greatest(c.balance, 0));
        from_purchased := least(amount - from_granted, c.purchased_balance);
        from_granted := amount - from_purchased;
        IF from_granted > 0 THEN
          INSERT INTO credit_ledger (id, org_id, bucket, delta, kind, key, content_hash, ref_type, ref_id, rate_card_version, reason, actor_id, created_at)
          VALUES (uuidv7(), org, 'granted', -from_granted, why, its_key, asked, of_type, of_id, card, explained, who, clock_timestamp());
        END IF;
        IF from_purchased > 0 THEN
          INSERT INTO credit_ledger (id, org_id, bucket, delta, kind, key, content_hash, ref_type, ref_id, rate_card_version, reason, actor_id, created_at)
          VALUES (uuidv7(), org, 'purchased', -from_purchased, why, its_key || CASE WHEN from_granted > 0 THEN ':purchased' ELSE '' END, asked, of_type, of_id, card, explained, who, clock_timestamp());
        END IF;
        RETURN true;
      END $$`,
  ),
  // Burns by their receipts, in the order of the receipts' own key: a million of both are compared without a look at their rows.
  {
    name: 'credit_ledger_receipt',
    up: `CREATE INDEX credit_ledger_receipt ON credit_ledger (org_id, (ref_id::uuid)) INCLUDE (ref_id) WHERE kind = 'burn'`,
    down: 'DROP INDEX credit_ledger_receipt',
  },
  // What calls burn, in the statement that writes their receipts. Organizations one after another, so that two batches that meet wait in
  // the same order.
  fn(
    'burn_receipts()',
    `burn_receipts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM credit_post(r.org_id, NULL, r.credits, 'burn', 'burn:' || r.id, 'receipt', r.id::text, r.rate_card_version, NULL, NULL)
      FROM (SELECT * FROM written WHERE enforced AND credits > 0 ORDER BY org_id, id) r;
      RETURN NULL; END $$`,
  ),
  trigger(
    'inference_receipts_burn',
    'inference_receipts',
    'AFTER INSERT ON inference_receipts REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION burn_receipts()',
  ),
];
