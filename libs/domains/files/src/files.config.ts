import { configSection, integer, setting } from '@aps/platform/config';

export const filesConfig = configSection('files', {
  unattachedMb: setting(
    'FILES_UNATTACHED_MAX_MB',
    integer(5_120, 50, 1_000_000_000),
    'MiB of uploads that an organization has at most which nothing refers to; each counts as 64 KiB or more. Further ones are 429 until some are attached, or a day old',
  ),
});
