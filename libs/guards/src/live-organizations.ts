/**
 * Whether the organization that a row belongs to is there, as a condition in SQL. Deleting one leaves the rows of its things as they are, so whoever
 * looks at those of all organizations asks for it.
 *
 * @param row alias of a table with `org_id`
 */
export const isOfLive = (row: string): string => `EXISTS (SELECT FROM organizations o WHERE o.id = ${row}.org_id AND o.deleted_at IS NULL)`;

/** When runs of an organization are held, or taken up by nobody any more, as most kinds have it. */
export const HELD_WITH_ORG = {
  isSuspended: (org: string): string => `EXISTS (SELECT 1 FROM organizations o WHERE o.id = ${org} AND o.suspended_at IS NOT NULL)`,
  isEnded: (org: string): string => `EXISTS (SELECT 1 FROM organizations o WHERE o.id = ${org} AND o.deleted_at IS NOT NULL)`,
};
