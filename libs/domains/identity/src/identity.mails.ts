import { appLink } from '@aps/platform/mail';

/** A mail without its receiver. Nothing that a stranger has typed (names, notes) goes into one. */
export interface MailText {
  subject: string;
  text: string;
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

export function passwordChangedMail(): MailText {
  return {
    subject: 'Your password was changed',
    text: `The password of your account was just changed, and all other sessions were ended.

If it was not you, choose a new one at once:
${appLink('/forgot-password')}
`,
  };
}

export function admissionMail(email: string): MailText {
  return {
    subject: 'You can sign up now',
    text: `You asked to be told when you can sign up. Now you can:
${appLink('/signup?email=', email)}

Use this address, ${email}, to sign up.
`,
  };
}
