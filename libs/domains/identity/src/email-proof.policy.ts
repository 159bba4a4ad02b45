/** `required`: an address counts as its user's when a mailed link has proven it. `off`: whoever signs up with it owns it. */
export const EMAIL_PROOFS = ['required', 'off'] as const;
export type EmailProof = (typeof EMAIL_PROOFS)[number];

/** Whether a signup proves its address by itself. An invitation's token was mailed to the address; that it is good for it is checked where it is redeemed. */
export function signupProves(proof: EmailProof, invitationToken: string | undefined): boolean {
  return proof === 'off' || invitationToken !== undefined;
}

/** Whether what is meant for an address may be given to the user who has it. */
export function ownsAddress(proof: EmailProof, user: { email_verified_at: Date | null }): boolean {
  return proof === 'off' || user.email_verified_at !== null;
}
