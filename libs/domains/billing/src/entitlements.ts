import { DomainError, refuseField } from '@aps/contracts';
import type { Db } from '@aps/platform/database';

/** Whether an organization's plan includes something. */
export const FEATURES = [
  'audit_log',
  'byo_keys',
  'decision_log',
  'direct_model_choice',
  'enforced_idp_sso',
  'enforces_credits',
  'hitl_routing',
  'per_agent_budgets',
  'shared_blocks',
] as const;
export type Feature = (typeof FEATURES)[number];

/** How much of something a plan includes. -1 = unlimited, 0 = none. */
export const CAPS = [
  'max_agents',
  'max_seats',
  'max_inboxes',
  'max_integrations',
  'max_custom_environments',
  'max_custom_models',
  'max_custom_image_gb',
  'max_concurrent_chats',
  'max_queue_depth',
  'intake_messages_per_day',
  'intake_classifier_calls_per_day',
  'decision_retention_days',
] as const;
export type Cap = (typeof CAPS)[number];

export type EntitlementSet = Readonly<Record<Feature, boolean> & Record<Cap, number>>;

export const entitlementRequired = (entitlement: Feature): DomainError =>
  new DomainError('entitlement_required', `The plan of this organization does not include ${entitlement}.`, { context: { entitlement } });

/**
 * Models are chosen in one of two ways, as the plan has it: by name and effort, or by mode.
 *
 * @param wish whether a model or an effort is named, and whether a mode is
 * @param modeField what the mode is sent as
 * @throws DomainError 403 `entitlement_required`; 422 `plan_mismatch`
 */
export function requireModelChoice(entitled: EntitlementSet, wish: { names: boolean; mode: boolean }, modeField: string): void {
  if (!entitled.direct_model_choice && wish.names) throw entitlementRequired('direct_model_choice');
  if (wish.mode) requireModes(entitled, modeField);
}

/** Where a mode alone can be chosen. @throws DomainError 422 `plan_mismatch` */
export function requireModes({ direct_model_choice }: EntitlementSet, field: string): void {
  if (direct_model_choice)
    throw refuseField('plan_mismatch', [field], 'This organization chooses models directly: by name and effort, not by mode.');
}

/**
 * What an organization may do. Every gate of the service asks this port and nothing else; where the answer comes from (the
 * configuration, a plan with overrides) is the binding's business.
 */
export abstract class Entitlements {
  /**
   * The resolved entitlements. Cheap: callers may ask on every request.
   *
   * @param db the open transaction, if any: asking over a second connection while holding one is how a pool runs dry
   */
  abstract of(orgId: string, db?: Db): Promise<EntitlementSet>;

  /** Those of many organizations, asked at once, for what goes through all of them; nothing of it is remembered. */
  abstract ofMany(orgIds: readonly string[]): Promise<Map<string, EntitlementSet>>;

  /**
   * Whether it has a subscription that counts. Who has none is entitled to nothing, so no model is called for them either, whatever it costs.
   *
   * @param db as of {@link of}
   */
  abstract isSubscribed(orgId: string, db?: Db): Promise<boolean>;

  async has(orgId: string, feature: Feature, db?: Db): Promise<boolean> {
    return (await this.of(orgId, db))[feature];
  }

  /** Whether an organization pays in credits: then its answers and streams show no dollars. */
  hidesDollars(orgId: string): Promise<boolean> {
    return this.has(orgId, 'enforces_credits');
  }

  /** @throws DomainError 403 `entitlement_required` */
  async require(orgId: string, feature: Feature, db?: Db): Promise<void> {
    if (!(await this.has(orgId, feature, db))) throw entitlementRequired(feature);
  }

  /**
   * Refuses to create one more. Count live rows under `advisoryLock(tx, 'cap:<cap>:<org>')`, or two creators both see room.
   *
   * @param current how many there are already
   * @throws DomainError 403 `entitlement_exceeded` with `{entitlement, limit, current}`
   */
  async requireRoom(orgId: string, cap: Cap, current: number, db?: Db): Promise<void> {
    const limit = (await this.of(orgId, db))[cap];
    if (limit >= 0 && current >= limit) {
      throw new DomainError('entitlement_exceeded', `The plan of this organization allows ${limit}, and ${current} are in use.`, {
        context: { entitlement: cap, limit, current },
      });
    }
  }
}
