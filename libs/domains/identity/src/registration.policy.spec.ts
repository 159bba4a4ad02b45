import { mayRegister, type RegistrationFacts } from './registration.policy';

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
