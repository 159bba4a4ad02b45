import { configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

export const hitlConfig = configSection('hitl', {
  expiry_days: setting(
    'HITL_EXPIRY_DAYS',
    z.coerce.number().int().min(1).max(365).default(30),
    'Days that a question to a human stays open; then its chat is given up',
  ),
});

/** When a question that is asked now is given up. */
export const expiryOf = (asked: Date): Date => new Date(asked.getTime() + hitlConfig.value.expiry_days * 86_400_000);
