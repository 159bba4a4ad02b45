import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const promptsConfig = configSection('prompts', {
  runRetentionDays: setting(
    'PROMPT_RUN_RETENTION_DAYS',
    z.coerce.number().int().min(1).max(3_650).default(30),
    'Days for which a run of a prompt template keeps what it has read and answered; what it cost stays',
  ),
});
