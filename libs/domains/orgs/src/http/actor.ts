import { DomainError } from '@aps/contracts';
import type { AuthenticatedRequest, Principal } from '@aps/guards';
import type { ActingUser } from '@aps/identity';

/**
 * The caller of a route that is about no organization in its path.
 *
 * @throws DomainError `insufficient_scope` for an API token that is confined to one organization: it must not reach another
 */
export function actingUser({ principal, requestId, confirm }: AuthenticatedRequest): ActingUser & Pick<Principal, 'email'> {
  if (!principal) throw new DomainError('not_authenticated', 'Not authenticated');
  if (principal.orgPin !== null) throw new DomainError('insufficient_scope', 'This API token is good for one organization only.');
  return { userId: principal.userId, email: principal.email, requestId, confirm };
}
