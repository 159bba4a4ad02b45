import { DomainError } from '@aps/contracts';
import { actingUser, type ActingUser, type AuthenticatedRequest, type Principal } from '@aps/guards';

/**
 * The caller of a route that is about no organization in its path.
 *
 * @throws DomainError `insufficient_scope` for an API token that is confined to one organization: it must not reach another
 */
export function actingPerson({ principal, requestId, confirm }: AuthenticatedRequest): ActingUser & Pick<Principal, 'email'> {
  if (!principal) throw new DomainError('not_authenticated', 'Not authenticated');
  if (principal.orgPin !== null) throw new DomainError('insufficient_scope', 'This API token is good for one organization only.');
  return { ...actingUser(principal.userId, { requestId, confirm }), email: principal.email };
}
