import type { AllowedEmail } from '@aps/entities';
import { Listing } from '@aps/platform/database';

/** An address that may sign up. */
export interface AllowedEmailView extends Pick<AllowedEmail, 'id' | 'email' | 'created_at'> {
  added_by: { user_id: string; email: string } | null;
}

/** Newest first. */
export const ALLOWED_EMAILS = new Listing<AllowedEmailView, object>({
  key: 'e.id',
  select: `e.id, e.email, CASE WHEN a.id IS NOT NULL THEN jsonb_build_object('user_id', a.id, 'email', a.email) END AS added_by, e.created_at`,
  from: 'allowed_emails e LEFT JOIN users a ON a.id = e.added_by',
  order: 'e.created_at DESC, e.id DESC',
});
