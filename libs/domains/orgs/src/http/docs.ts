import { ApiParam, ApiResponse } from '@nestjs/swagger';

const id = { type: 'string' as const, format: 'uuid' };

/** Documents `org_id`, which no handler takes by itself: the guard has made a scope of it. */
export const ApiOrgPath = () => ApiParam({ name: 'org_id', description: 'The organization.', schema: id });
export const ApiMemberPath = () => ApiParam({ name: 'member_id', description: 'The membership, `id` of a member.', schema: id });
export const ApiInvitationPath = () => ApiParam({ name: 'invitation_id', description: 'The invitation.', schema: id });
export const ApiTokenPath = () =>
  ApiParam({
    name: 'token',
    description: 'The last part of the mailed link.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,256}$' },
  });

/** Documents an error that the platform does not document by itself. */
export const ApiRefusal = (status: 403 | 409 | 410, description: string) =>
  ApiResponse({ status, description, schema: { $ref: '#/components/schemas/Error' } });
