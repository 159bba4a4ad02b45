export const REGISTRATION_MODES = ['open', 'allowlist', 'closed'] as const;
type RegistrationMode = (typeof REGISTRATION_MODES)[number];
/** `required`: an address counts as its user's when a mailed link has proven it. `off`: whoever signs up with it owns it. */
export const EMAIL_PROOFS = ['required', 'off'] as const;
type EmailProof = (typeof EMAIL_PROOFS)[number];

/** Whether a signup proves its address by itself. An invitation's token was mailed to the address; that it is good for it is checked where it is redeemed. */
export function signupProves(proof: EmailProof, invitationToken: string | undefined): boolean {
  return proof === 'off' || invitationToken !== undefined;
}

/** Whether what is meant for an address may be given to the user who has it. */
export function ownsAddress(proof: EmailProof, user: { email_verified_at: Date | null }): boolean {
  return proof === 'off' || user.email_verified_at !== null;
}

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
