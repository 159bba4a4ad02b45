import type { InvitationPreviewResponse, InvitationResponse, MemberResponse, OrganizationAuditItem, OrganizationResponse } from '@aps/dtos';
import type { Listed, Slice } from '@aps/platform/database';
import { type Page, toPage } from '@aps/platform/http';
import type { AuditItem, InvitationPreview, InvitationView, Invited, MemberView, OrganizationView } from '../orgs.types';

const time = (date: Date) => date.toISOString();
const timeOrNull = (date: Date | null) => date?.toISOString() ?? null;

export const toPageOf = <A, B>({ items, total }: Listed<A>, slice: Slice, convert: (item: A) => B): Page<B> =>
  toPage(items.map(convert), total, slice);

export const toOrganization = (o: OrganizationView): OrganizationResponse => ({
  id: o.id,
  name: o.name,
  slug: o.slug,
  plan_code: null,
  suspended: o.suspended_at !== null,
  suspended_at: timeOrNull(o.suspended_at),
  member_count: o.member_count,
  my_role: o.my_role,
  created_at: time(o.created_at),
  updated_at: time(o.updated_at),
});

export const toMember = (m: MemberView): MemberResponse => ({
  kind: 'member',
  id: m.id,
  user_id: m.user_id,
  email: m.email,
  name: m.name,
  avatar_url: m.avatar_url,
  role: m.role,
  joined_at: time(m.created_at),
  last_active_at: timeOrNull(m.last_active_at),
  created_at: time(m.created_at),
  updated_at: time(m.updated_at),
});

export const toInvitation = (i: InvitationView): InvitationResponse => ({
  kind: 'invitation',
  id: i.id,
  email: i.email,
  role: i.role,
  state: i.state,
  invited_by: i.invited_by,
  expires_at: time(i.expires_at),
  accepted_at: timeOrNull(i.accepted_at),
  revoked_at: timeOrNull(i.revoked_at),
  created_at: time(i.created_at),
  updated_at: time(i.updated_at),
});

export const toInvited = (result: Invited): MemberResponse | InvitationResponse =>
  result.kind === 'member' ? toMember(result.member) : toInvitation(result.invitation);

export const toPreview = (p: InvitationPreview): InvitationPreviewResponse => ({ ...p, expires_at: time(p.expires_at) });

export const toAuditItem = (a: AuditItem): OrganizationAuditItem => ({ ...a, created_at: time(a.created_at) });
