import { InvitationPreviewResponse, InvitationResponse, MemberResponse, OrganizationAuditItem, OrganizationResponse } from '@aps/dtos';
import type { Listed, Slice } from '@aps/platform/database';
import { answer, type Page, toPage } from '@aps/platform/http';
import type { AuditItem, InvitationPreview, InvitationView, Invited, MemberView, OrganizationView } from '../orgs.types';

export const toPageOf = <A, B>({ items, total }: Listed<A>, slice: Slice, convert: (item: A) => B): Page<B> =>
  toPage(items.map(convert), total, slice);

export const toOrganization = (o: OrganizationView): OrganizationResponse =>
  answer(OrganizationResponse, o, {
    plan_code: null,
    suspended: o.suspended_at !== null,
  });

export const toMember = (m: MemberView): MemberResponse =>
  answer(MemberResponse, m, {
    kind: 'member',
    joined_at: m.created_at.toISOString(),
  });

export const toInvitation = (i: InvitationView): InvitationResponse =>
  answer(InvitationResponse, i, {
    kind: 'invitation',
  });

export const toInvited = (result: Invited): MemberResponse | InvitationResponse =>
  result.kind === 'member' ? toMember(result.member) : toInvitation(result.invitation);

export const toPreview = (p: InvitationPreview): InvitationPreviewResponse => answer(InvitationPreviewResponse, p);

export const toAuditItem = (a: AuditItem): OrganizationAuditItem => answer(OrganizationAuditItem, a);
