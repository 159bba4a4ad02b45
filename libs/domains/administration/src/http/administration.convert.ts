import {
  AuditItem,
  type OrgDetailResponse,
  OrgListItem,
  OrgMemberInfo,
  OrgSuspensionResponse,
  UserStatusResponse,
  WorkerLeaseResponse,
  WorkerQueueResponse,
  WorkerResponse,
} from '@aps/dtos';
import type { Standing } from '@aps/billing';
import type { UserStatusChange } from '@aps/identity';
import type { AuditLine, OrganizationSuspension, OrgDirectoryEntry, OrgMemberInfo as Member } from '@aps/orgs';
import { answer } from '@aps/platform/http';
import type { WorkerView } from '../workers.queries';

export const toUserStatus = ({ user, sole_owner_org_ids }: UserStatusChange): UserStatusResponse =>
  answer(UserStatusResponse, user, { user_id: user.id, active: user.deactivated_at === null, sole_owner_org_ids });

export const toOrgListItem = (org: OrgDirectoryEntry & Standing): OrgListItem =>
  answer(OrgListItem, org, { suspended: org.suspended_at !== null });

export const toOrgDetail = (org: OrgDirectoryEntry & Standing & { members: Member[] }): OrgDetailResponse => ({
  ...toOrgListItem(org),
  members: org.members.map((member) => answer(OrgMemberInfo, member)),
});

export const toOrgSuspension = (org: OrganizationSuspension): OrgSuspensionResponse =>
  answer(OrgSuspensionResponse, org, { org_id: org.id, suspended: org.suspended_at !== null });

export const toAuditItem = (row: AuditLine): AuditItem =>
  answer(AuditItem, row, {
    actor: row.actor_id === null ? null : { id: row.actor_id, email: row.actor_email },
    target: { kind: row.target_kind, id: row.target_id },
  });

export const toWorker = (worker: WorkerView): WorkerResponse =>
  answer(WorkerResponse, worker, {
    queues: worker.queues.map((queue) => answer(WorkerQueueResponse, queue)),
    leases: worker.leases.map((lease) => answer(WorkerLeaseResponse, lease, { expires_at: new Date(lease.expires_at).toISOString() })),
  });
