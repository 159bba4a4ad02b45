import type { AllowedEmailResponse, PlatformAdminResponse, UserStatusResponse, WaitlistEntryResponse } from '@aps/dtos';
import type { AllowedEmailView, PlatformAdminView, UserStatusChange, WaitlistRow } from '@aps/identity';

const time = (at: Date | null) => at?.toISOString() ?? null;

export const toPlatformAdmin = (admin: PlatformAdminView): PlatformAdminResponse => ({
  user_id: admin.user_id,
  email: admin.email,
  name: admin.name,
  added_by: admin.added_by,
  created_at: admin.created_at.toISOString(),
});

export const toAllowedEmail = (entry: AllowedEmailView): AllowedEmailResponse => ({
  id: entry.id,
  email: entry.email,
  added_by: entry.added_by,
  created_at: entry.created_at.toISOString(),
});

export const toUserStatus = ({ user, sole_owner_org_ids }: UserStatusChange): UserStatusResponse => ({
  user_id: user.id,
  email: user.email,
  active: user.deactivated_at === null,
  deactivated_at: time(user.deactivated_at),
  sole_owner_org_ids,
});

export const toWaitlistEntry = (entry: WaitlistRow): WaitlistEntryResponse => ({
  id: entry.id,
  email: entry.email,
  name: entry.name,
  note: entry.note,
  status: entry.status,
  asked_at: entry.asked_at.toISOString(),
  admitted_at: time(entry.admitted_at),
  dismissed_at: time(entry.dismissed_at),
  last_mailed_at: time(entry.last_mailed_at),
});
