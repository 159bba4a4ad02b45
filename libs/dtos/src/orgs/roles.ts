import { EnumField, type FieldOptions } from '@aps/platform/http';

/** Roles inside an organization, strongest first. */
export const ORG_ROLE_NAMES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
export type OrgRoleName = (typeof ORG_ROLE_NAMES)[number];

export const RoleField = (o: FieldOptions): PropertyDecorator => EnumField(ORG_ROLE_NAMES, { name: 'OrgRole', ...o });
