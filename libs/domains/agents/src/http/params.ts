import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse } from '@nestjs/swagger';
import type { AccessOptions } from '@aps/guards';
import { SLUG } from '@aps/contracts';

/** `agent_id` takes an id or a slug. */
export const BY_AGENT: AccessOptions = { params: { agent_id: 'uuid_or_slug' } };

/** Documents `org_id` and `agent_id`. The pattern keeps the generator from taking the latter for a UUID; those are slugs by form. */
export const ApiAgentPath = () =>
  applyDecorators(
    ApiOrgPath(),
    ApiParam({
      name: 'agent_id',
      description: 'Id or slug of the agent.',
      schema: { type: 'string', maxLength: 64, pattern: SLUG.source },
    }),
  );

export const ApiOrgPath = () => ApiParam({ name: 'org_id', description: 'The organization.', schema: { type: 'string', format: 'uuid' } });

/** Documents the 409s of an operation. */
export const ApiConflict = (description: string) =>
  ApiResponse({ status: 409, description, schema: { $ref: '#/components/schemas/Error' } });
