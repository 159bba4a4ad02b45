import type { AuditItem, OrgDetailResponse, OrgListItem, OrgMemberInfo, OrgSuspensionResponse } from '@aps/dtos';
import type { OrganizationSuspension, OrgDirectoryDetail, OrgDirectoryEntry, OrgMemberInfo as Member } from '@aps/orgs';
import type { AuditRecord } from '../audit.queries';

export const toOrgListItem = (org: OrgDirectoryEntry): OrgListItem => ({
  id: org.id,
  name: org.name,
  slug: org.slug,
  created_at: org.created_at.toISOString(),
  suspended: org.suspended_at !== null,
  suspended_at: org.suspended_at?.toISOString() ?? null,
  member_count: org.member_count,
  // Nobody is subscribed to anything yet, and there are no credit accounts.
  plan_code: null,
  subscription_status: null,
  credits_remaining: null,
  credits_balance: null,
  credits_purchased: null,
  credits_overdraft: null,
});

export const toOrgMember = (member: Member): OrgMemberInfo => ({
  user_id: member.user_id,
  email: member.email,
  name: member.name,
  role: member.role,
  joined_at: member.joined_at.toISOString(),
  deactivated: member.deactivated,
});

export const toOrgDetail = (org: OrgDirectoryDetail): OrgDetailResponse => ({
  ...toOrgListItem(org),
  members: org.members.map(toOrgMember),
});

export const toOrgSuspension = (suspension: OrganizationSuspension): OrgSuspensionResponse => ({
  org_id: suspension.org_id,
  suspended: suspension.suspended,
  suspended_at: suspension.suspended_at?.toISOString() ?? null,
  changed: suspension.changed,
});

export const toAuditItem = (row: AuditRecord): AuditItem => ({
  id: row.id,
  source: row.source,
  action: row.action,
  org_id: row.org_id,
  actor: row.actor_id === null ? null : { id: row.actor_id, email: row.actor_email },
  target: { kind: row.target_kind, id: row.target_id },
  metadata: row.metadata,
  created_at: row.created_at.toISOString(),
});
