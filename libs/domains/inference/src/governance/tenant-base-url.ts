import { refuseValue } from '@aps/contracts';
import type { Egress } from '@aps/platform/egress';

/**
 * An address that an organization chose, and that paths are appended to, as it was read when it was checked. Resolves its name, so it is
 * asked outside of transactions.
 *
 * @param field where it stands in the body
 * @throws DomainError 422 `validation_error`
 */
export async function tenantBaseUrl(egress: Egress, written: string, field: string[]): Promise<string> {
  const { origin, pathname, search, hash } = await egress.assertPublicUrl(written, { field, purpose: 'inference' });
  if (search || hash)
    throw refuseValue(['body', ...field], 'The URL must end with its path: what follows is added here, and keys travel in headers.');
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
