import { AllowedEmailResponse, PlatformAdminResponse, type UserStatusResponse, WaitlistEntryResponse } from '@aps/dtos';
import type { WaitlistEntry } from '@aps/entities';
import type { AllowedEmailView, PlatformAdminView, UserStatusChange } from '@aps/identity';
import { answer } from '@aps/platform/http';

const time = (at: Date | null) => at?.toISOString() ?? null;

export const toPlatformAdmin = (admin: PlatformAdminView): PlatformAdminResponse => answer(PlatformAdminResponse, admin);

export const toAllowedEmail = (entry: AllowedEmailView): AllowedEmailResponse => answer(AllowedEmailResponse, entry);

export const toUserStatus = ({ user, sole_owner_org_ids }: UserStatusChange): UserStatusResponse => ({
  user_id: user.id,
  email: user.email,
  active: user.deactivated_at === null,
  deactivated_at: time(user.deactivated_at),
  sole_owner_org_ids,
});

export const toWaitlistEntry = (entry: WaitlistEntry): WaitlistEntryResponse => answer(WaitlistEntryResponse, entry);
