import { ownsAddress, signupProves } from './email-proof.policy';

describe('the proof of an address', () => {
  it('is in a signup by a mailed secret alone, or where none is asked for', () => {
    expect([signupProves('required', undefined), signupProves('required', 'token'), signupProves('off', undefined)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('is what an account needs to be given what is meant for the address', () => {
    const [open, proven] = [{ email_verified_at: null }, { email_verified_at: new Date() }];
    expect([ownsAddress('required', open), ownsAddress('required', proven), ownsAddress('off', open), ownsAddress('off', proven)]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });
});
