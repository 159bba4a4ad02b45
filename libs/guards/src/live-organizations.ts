/**
 * Whether the organization that a row belongs to is there, as a condition in SQL. Deleting one leaves the rows of its things as they are, so whoever
 * looks at those of all organizations asks for it.
 *
 * @param row alias of a table with `org_id`
 */
export const isOfLive = (row: string): string => `EXISTS (SELECT FROM organizations o WHERE o.id = ${row}.org_id AND o.deleted_at IS NULL)`;
