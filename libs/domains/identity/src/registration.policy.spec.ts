import { mayRegister, ownsAddress, signupProves, type RegistrationFacts } from './registration.policy';

const NOTHING: RegistrationFacts = { isBootstrapAdmin: false, isAllowed: false, isInvited: false, isAdmitted: false };
const every = (fact: keyof RegistrationFacts) => ({ ...NOTHING, [fact]: true });

describe('mayRegister', () => {
  it('lets anyone in when registration is open', () => {
    expect(mayRegister('open', NOTHING)).toBe(true);
  });

  it.each(['isBootstrapAdmin', 'isAllowed', 'isInvited', 'isAdmitted'] as const)('takes %s for the allowlist, alone', (fact) => {
    expect(mayRegister('allowlist', every(fact))).toBe(true);
    expect(mayRegister('allowlist', NOTHING)).toBe(false);
  });

  it('lets nobody but the first administrator into a closed installation', () => {
    expect(mayRegister('closed', { isBootstrapAdmin: false, isAllowed: true, isInvited: true, isAdmitted: true })).toBe(false);
    expect(mayRegister('closed', every('isBootstrapAdmin'))).toBe(true);
  });
});

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
