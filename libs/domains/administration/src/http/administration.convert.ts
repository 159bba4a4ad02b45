import {
  AuditItem,
  type OrgDetailResponse,
  OrgListItem,
  OrgMemberInfo,
  OrgSuspensionResponse,
  UserStatusResponse,
  WaitlistEntryResponse,
  QueueResponse,
  WorkerLeaseResponse,
  WorkerQueueResponse,
  WorkerResponse,
} from '@aps/dtos';
import type { Standing } from '@aps/billing';
import type { WaitlistEntry } from '@aps/entities';
import type { UserStatusChange } from '@aps/identity';
import type { AuditLine, OrganizationSuspension, OrgDirectoryEntry, OrgMemberInfo as Member } from '@aps/orgs';
import { answer } from '@aps/platform/http';
import type { QueueView, WorkerView } from '../workers.queries';

export const toUserStatus = ({ user, sole_owner_org_ids }: UserStatusChange): UserStatusResponse =>
  answer(UserStatusResponse, user, { user_id: user.id, active: user.deactivated_at === null, sole_owner_org_ids });

export const toWaitlistEntry = (entry: WaitlistEntry): WaitlistEntryResponse => answer(WaitlistEntryResponse, entry);

export const toOrgListItem = (org: OrgDirectoryEntry & Standing): OrgListItem =>
  answer(OrgListItem, org, { suspended: org.suspended_at !== null });

export const toOrgMember = (member: Member): OrgMemberInfo => answer(OrgMemberInfo, member);

export const toOrgDetail = (org: OrgDirectoryEntry & Standing & { members: Member[] }): OrgDetailResponse => ({
  ...toOrgListItem(org),
  members: org.members.map(toOrgMember),
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

export const toQueue = (queue: QueueView): QueueResponse => answer(QueueResponse, queue);
