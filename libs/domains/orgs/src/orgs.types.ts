import type { OrgRole } from '@aps/guards';

/** A live organization as it is stored. */
export interface OrganizationRecord {
  id: string;
  name: string;
  slug: string;
  suspended_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** An organization in the eyes of one of its members. */
export interface OrganizationView extends OrganizationRecord {
  member_count: number;
  my_role: OrgRole;
}

export interface OrganizationSuspension {
  org_id: string;
  suspended: boolean;
  suspended_at: Date | null;
  /** Whether this call did it. */
  changed: boolean;
}

/** A member as the organization's own members see one. `id` is the membership's. */
export interface MemberView {
  id: string;
  user_id: string;
  email: string;
  name: string;
  avatar_url: string | null;
  role: OrgRole;
  last_active_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** A member as operators see one. */
export interface OrgMemberInfo {
  user_id: string;
  email: string;
  name: string;
  role: OrgRole;
  joined_at: Date;
  deactivated: boolean;
}

/** A row of the operators' list of organizations. */
export interface OrgDirectoryEntry {
  id: string;
  name: string;
  slug: string;
  created_at: Date;
  suspended_at: Date | null;
  member_count: number;
}

export interface OrgDirectoryDetail extends OrgDirectoryEntry {
  members: OrgMemberInfo[];
}

/** An invitation; the secret of its link is known to the mail alone. */
export interface InvitationView {
  id: string;
  email: string;
  role: OrgRole;
  state: 'pending' | 'accepted' | 'revoked';
  invited_by: string | null;
  expires_at: Date;
  accepted_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** What the holder of a link may know before signing in. */
export interface InvitationPreview {
  org_name: string;
  email: string;
  role: OrgRole;
  state: 'pending';
  expires_at: Date;
}

/** What became of an invite: an address with an account is a member at once. */
export type Invited = { kind: 'member'; member: MemberView } | { kind: 'invitation'; invitation: InvitationView };

/** A line of an organization's audit log. Operators stay nameless to the organization. */
export interface AuditItem {
  id: string;
  source: 'admin' | 'business';
  action: string;
  actor: { id: string; email: string | null } | null;
  target: { kind: string; id: string | null };
  metadata: Record<string, unknown>;
  created_at: Date;
}
