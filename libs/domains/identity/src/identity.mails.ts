import { appLink } from '@aps/platform/mail';

/** A mail without its receiver. Nothing that a stranger has typed (names, notes) goes into one. */
export interface MailText {
  subject: string;
  text: string;
}

export function verificationMail(token: string): MailText {
  return {
    subject: 'Confirm your address',
    text: `Somebody, probably you, signed up with this address.

Confirm here within 24 hours that it is yours:
${appLink('/verify/', token)}

If it was not you, do not open the link, or that account gets what is meant for you: invitations, for example.
`,
  };
}

export function passwordResetMail(token: string): MailText {
  return {
    subject: 'Choose a new password',
    text: `Somebody, probably you, asked for a new password for this address.

Choose it here within one hour:
${appLink('/reset-password/', token)}

If it was not you, ignore this mail: nothing has changed.
`,
  };
}

/**
 * @param label of an identity provider, as the operator calls it
 * @param isTakenOver whether somebody else may have had the account before
 */
export function providerLinkedMail(label: string, isTakenOver: boolean): MailText {
  const before = `
Whoever had signed up with this address had not proven it. If it was not you, they cannot sign in any more, but what they have set up stays. In the organizations of this account, look through members, tokens of machines, webhooks, connections and keys, and remove or renew what is not yours.
`;
  return {
    subject: 'You can sign in another way now',
    text: `Somebody, probably you, has just signed in to your account by ${label}, and can do so from now on.
${isTakenOver ? before : ''}
If it was not you, tell whoever operates ${label}, and choose another password:
${appLink('/forgot-password')}
`,
  };
}

/** @param tokens how many API tokens were revoked with the old password, and how many go on working */
export function passwordChangedMail({ revoked, live }: { revoked: number; live: number }): MailText {
  const tokens = [
    revoked > 0 && `${counted(revoked)} revoked.`,
    live > 0 ? `${counted(live)} still valid; revoke what you do not know.` : 'No API token of yours is valid.',
  ];
  return {
    subject: 'Your password was changed',
    text: `The password of your account was just changed, and all other sessions were ended.
${tokens.filter(Boolean).join(' ')}

If it was not you, choose a new one at once:
${appLink('/forgot-password')}
`,
  };
}

const counted = (n: number): string => (n === 1 ? 'One API token is' : `${n} API tokens are`);

export function admissionMail(email: string): MailText {
  return {
    subject: 'You can sign up now',
    text: `You asked to be told when you can sign up. Now you can:
${appLink('/signup?email=', email)}

Use this address, ${email}, to sign up.
`,
  };
}
