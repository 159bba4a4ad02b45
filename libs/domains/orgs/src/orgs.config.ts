import { configSection, integer, setting } from '@aps/platform/config';

export const orgsConfig = configSection('orgs', {
  maxOwned: setting(
    'MAX_OWNED_ORGS',
    integer(10, 0, 1_000_000),
    'Organizations that one user may have made and own, and still make another one; deleted ones do not count, suspended ones do, and those that others have made do not; 0 = no limit',
  ),
  // Their mails go out one after another with everybody else's.
  invitationsPerHour: setting(
    'INVITATIONS_PER_HOUR',
    integer(100, 0, 1_000_000),
    'Invitations that one organization, and that one user in all organizations, may mail within an hour, revoked ones counted; 0 = no limit, as with RATE_LIMITS=off',
  ),
});
