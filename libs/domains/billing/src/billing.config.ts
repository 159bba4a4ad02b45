import { configSection, flag, setting } from '@aps/platform/config';
import { z } from 'zod';

export const billingConfig = configSection('billing', {
  newOrgPlan: setting(
    'CREDITS_DEFAULT_NEW_ORG_PLAN',
    z.string().max(128).default('trial'),
    'Code of the plan that new organizations are subscribed to; empty: none',
    { mayBeEmpty: true },
  ),
  forcePeriodRoll: setting(
    'CREDITS_FORCE_PERIOD_ROLL_ENABLED',
    flag(false),
    'Whether operators may end the period of an organization before it is over',
  ),
});
