import { statement } from '@aps/platform/database';
import { hashed } from '../pipeline/evaluation.sql';

const KEPT_BODY_CHARS = 2_000;

/** Messages whose time is over, longest ago first, of whatever organizations. */
export const EXPIRE = statement<{ id: string; org_id: string }>(`
  WITH x AS MATERIALIZED (
    SELECT id FROM inbox_messages WHERE raw_available AND raw_expires_at <= now() AND state <> 'evaluating'
    ORDER BY raw_expires_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE inbox_messages m SET raw_available = false FROM x WHERE m.id = x.id RETURNING m.id, m.org_id`);
/** Once. Who took part in a thread goes on with it, however long it takes. */
export const FORGET = statement(`
  UPDATE inbox_envelopes SET headers = '{}', body_text = left(body_text, ${KEPT_BODY_CHARS}), payload = NULL, attachments = '[]', participants = ARRAY(SELECT ${hashed('p')} FROM unnest(participants) p)
  WHERE message_id = ANY ($1)`);
