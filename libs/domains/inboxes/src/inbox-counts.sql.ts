/**
 * The messages of inboxes since a moment, as `x` with `inbox_id, channel_kind, state, verdict, n`: whole hours by their tally, and what came in the
 * hour of that moment, after it, one by one.
 *
 * @param inboxes SQL of a condition over `inbox_id`
 * @param since SQL of the moment
 */
export const messagesSince = (inboxes: string, since: string): string => `(
  SELECT inbox_id, channel_kind, state, verdict, n FROM inbox_tallies WHERE ${inboxes} AND hour >= date_trunc('hour', ${since}, 'UTC') + interval '1 hour'
  UNION ALL
  SELECT inbox_id, channel_kind, state, coalesce(verdict, ''), 1 FROM inbox_messages
  WHERE ${inboxes} AND received_at >= ${since} AND received_at < date_trunc('hour', ${since}, 'UTC') + interval '1 hour') x`;
