import type { RegistrationMode } from './identity.config';

/** What speaks for letting an address sign up. */
export interface RegistrationFacts {
  isBootstrapAdmin: boolean;
  /** It is among the allowed emails. */
  isAllowed: boolean;
  /** An invitation is pending for it. */
  isInvited: boolean;
  /** It was admitted from the waitlist. */
  isAdmitted: boolean;
}

/** Whether an address may sign up. A closed installation lets in nobody, invited or not, but its first administrator. */
export function mayRegister(mode: RegistrationMode, facts: RegistrationFacts): boolean {
  if (facts.isBootstrapAdmin || mode === 'open') return true;
  return mode === 'allowlist' && (facts.isAllowed || facts.isInvited || facts.isAdmitted);
}
