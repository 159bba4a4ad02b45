import { InvitationResponse, MemberResponse, OrganizationAuditItem, OrganizationResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { AuditLine } from '../audit.queries';
import type { PendingInvitation } from '../invitations.repository';
import type { Invited } from '../invitations.service';
import type { MemberView } from '../members.queries';
import type { OrganizationView } from '../organizations.queries';

export const toOrganization = (o: OrganizationView): OrganizationResponse =>
  answer(OrganizationResponse, o, { suspended: o.suspended_at !== null });

export const toMember = (m: MemberView): MemberResponse =>
  answer(MemberResponse, m, { kind: 'member', joined_at: m.created_at.toISOString() });

export const toInvitation = (i: PendingInvitation): InvitationResponse => answer(InvitationResponse, i, { kind: 'invitation' });

export const toInvited = (result: Invited): MemberResponse | InvitationResponse =>
  'member' in result ? toMember(result.member) : toInvitation(result.invitation);

export const toAuditItem = (line: AuditLine): OrganizationAuditItem =>
  answer(OrganizationAuditItem, line, {
    actor: line.actor_id === null ? null : { id: line.actor_id, email: line.actor_email },
    target: { kind: line.target_kind, id: line.target_id },
  });
