import { AuditItem, type OrgDetailResponse, OrgListItem, OrgMemberInfo, OrgSuspensionResponse } from '@aps/dtos';
import type { OrganizationSuspension, OrgDirectoryDetail, OrgDirectoryEntry, OrgMemberInfo as Member } from '@aps/orgs';
import { answer } from '@aps/platform/http';
import type { AuditRecord } from '../audit.queries';

export const toOrgListItem = (org: OrgDirectoryEntry): OrgListItem =>
  answer(OrgListItem, org, {
    suspended: org.suspended_at !== null,
    plan_code: null,
    subscription_status: null,
    credits_remaining: null,
    credits_balance: null,
    credits_purchased: null,
    credits_overdraft: null,
  });

export const toOrgMember = (member: Member): OrgMemberInfo => answer(OrgMemberInfo, member);

export const toOrgDetail = (org: OrgDirectoryDetail): OrgDetailResponse => ({
  ...toOrgListItem(org),
  members: org.members.map(toOrgMember),
});

export const toOrgSuspension = (suspension: OrganizationSuspension): OrgSuspensionResponse => answer(OrgSuspensionResponse, suspension);

export const toAuditItem = (row: AuditRecord): AuditItem =>
  answer(AuditItem, row, {
    actor: row.actor_id === null ? null : { id: row.actor_id, email: row.actor_email },
    target: { kind: row.target_kind, id: row.target_id },
  });
