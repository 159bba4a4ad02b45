import { Injectable } from '@nestjs/common';
import { Database, statement } from '@aps/platform/database';

/** Two texts that are others whenever an organization's credits have moved, or its subscription is another. They say nothing else. */
export interface AccountStamps {
  org_id: string;
  credits: string;
  subscription: string;
}

// Of each row the transaction that wrote it: no way of writing can be forgotten.
const STAMPS = statement<AccountStamps>(`
  SELECT o.id AS org_id, coalesce(c.xmin::text, '') AS credits, concat_ws(' ', s.xmin::text, x.xmin::text) AS subscription
  FROM unnest($1::uuid[]) AS o(id) LEFT JOIN org_credits c ON c.org_id = o.id LEFT JOIN subscriptions s ON s.org_id = o.id
    LEFT JOIN external_subscriptions x ON x.id = s.external_subscription_id`);

/** Tells whether something has changed about what organizations have and are subscribed to, for less than reading it. */
@Injectable()
export class AccountStampsQueries {
  constructor(private readonly db: Database) {}

  of(orgIds: string[]): Promise<AccountStamps[]> {
    return this.db.query(STAMPS, [orgIds]);
  }
}
