import { Injectable } from '@nestjs/common';
import { listTally, type BillingEvent, type BillingEventStatus } from '@aps/entities';
import { Database, type Db, Listing, statement, type Listed, type Slice } from '@aps/platform/database';

interface Filter {
  org_id?: string;
  status?: BillingEventStatus;
}

const EVENTS = new Listing<BillingEvent, Filter>({
  key: 'e.id',
  select: 'e.*',
  from: 'billing_events e',
  where: { org_id: 'e.org_id = $', status: 'e.status = $' },
  tally: { from: listTally('billing_events'), where: { org_id: 't.of_id = $', status: 't.facet = $' } },
  order: 'e.received_at DESC, e.id DESC',
  what: 'Billing event',
});

const COUNTS = statement<{ status: BillingEventStatus; n: number }>(
  `SELECT t.facet AS status, sum(t.n)::int AS n FROM ${listTally('billing_events')} GROUP BY t.facet`,
);
const OPEN = statement<{ status: 'failed' | 'unresolved'; n: number }>(`
  SELECT status, count(*)::int AS n FROM billing_events WHERE status IN ('failed', 'unresolved') AND settled_at IS NULL GROUP BY status`);

/** Deliveries of the payment provider, as operators see them. */
@Injectable()
export class BillingEventsQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list({ org_id, status }: Filter, slice: Slice): Promise<Listed<BillingEvent>> {
    return EVENTS.page(this.db, { org_id, status }, slice);
  }

  /** How many there are in all, by status. */
  async counts(): Promise<Record<BillingEventStatus, number>> {
    const none = { received: 0, applied: 0, ignored: 0, unresolved: 0, failed: 0 };
    return { ...none, ...Object.fromEntries((await this.db.query(COUNTS)).map(({ status, n }) => [status, n])) };
  }

  /** How many of those that went wrong are not settled. */
  async open(): Promise<Record<'failed' | 'unresolved', number>> {
    return { failed: 0, unresolved: 0, ...Object.fromEntries((await this.db.query(OPEN)).map(({ status, n }) => [status, n])) };
  }

  /** @throws DomainError `not_found` */
  get(id: string, db: Db = this.db): Promise<BillingEvent> {
    return EVENTS.get(db, id, {});
  }
}
