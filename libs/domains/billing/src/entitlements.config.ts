import { configSection, flag, setting, type Setting } from '@aps/platform/config';
import { z } from 'zod';
import { CAPS, FEATURES, type Cap, type EntitlementSet, type Feature } from './entitlements';

/** Generous, but finite where one organization could otherwise fill the machine. */
const CAP_DEFAULTS: Record<Cap, number> = {
  max_agents: 1_000,
  max_seats: 1_000,
  max_inboxes: 1_000,
  max_integrations: 1_000,
  max_custom_environments: 100,
  max_custom_models: 1_000,
  max_custom_image_gb: 50,
  max_concurrent_chats: 2_000,
  max_queue_depth: 20_000,
  intake_messages_per_day: -1,
  intake_classifier_calls_per_day: -1,
  decision_retention_days: -1,
};

/** All features are on, except the two that take something away: metering, and forcing members through an identity provider. */
const FEATURE_DEFAULTS = (feature: Feature): boolean => feature !== 'enforces_credits' && feature !== 'enforced_idp_sso';

const settings: Record<string, Setting> = {};
for (const feature of FEATURES) {
  settings[feature] = setting(
    `ENTITLEMENT_${feature.toUpperCase()}`,
    flag(FEATURE_DEFAULTS(feature)),
    `Whether every organization has ${feature}`,
  );
}
for (const cap of CAPS) {
  settings[cap] = setting(
    `ENTITLEMENT_${cap.toUpperCase()}`,
    z.coerce.number().int().min(-1).default(CAP_DEFAULTS[cap]),
    `${cap} of every organization; -1 = unlimited`,
  );
}

export const entitlementsConfig = configSection('entitlements', settings);

/** The entitlements that the configuration gives to every organization. */
export const configuredEntitlements = (): EntitlementSet => entitlementsConfig.value as unknown as EntitlementSet;
