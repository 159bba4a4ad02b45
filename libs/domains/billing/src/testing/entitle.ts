import type { EntitlementSet } from '@aps/billing';
import type { TestService } from '@aps/testing';

const text = (value: boolean | number) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));

/** What every organization may do from now on, beyond what the configuration says. */
export function entitle(service: TestService, changes: Partial<EntitlementSet>): void {
  service.configure(Object.fromEntries(Object.entries(changes).map(([name, value]) => [`ENTITLEMENT_${name.toUpperCase()}`, text(value)])));
}
