import { configSection, integer, setting } from '@aps/platform/config';

export const administrationConfig = configSection('administration', {
  erasureDays: setting(
    'ORGANIZATION_ERASURE_DAYS',
    integer(30, 1, 36_500),
    'Days after which a deleted organization loses its secrets, its files, and its own models and routes for good',
  ),
});
