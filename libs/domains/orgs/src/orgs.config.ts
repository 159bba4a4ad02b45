import { configSection, integer, setting } from '@aps/platform/config';

export const orgsConfig = configSection('orgs', {
  maxOwned: setting(
    'MAX_OWNED_ORGS',
    integer(10, 0, 1_000_000),
    'Organizations that one user may own and still make another one; deleted ones do not count, suspended ones do, and whoever is invited or promoted may own more; 0 = no limit',
  ),
});
