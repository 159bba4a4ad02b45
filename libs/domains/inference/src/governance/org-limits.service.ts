import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, type Tx } from '@aps/platform/database';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings } from '../inference.settings';
import {
  assertDefaultsAllowed,
  limitsOf,
  namedModels,
  normalizeLimits,
  setsModels,
  type LimitsPatch,
  type OrgLimits,
} from './limits.policy';
import { ModelUsers, type AgentModel } from './model-users';
import { plain, remainingOf } from '../pricing';
import { ReceiptsRepository } from '../receipts.repository';

export interface OrgLimitsView extends OrgLimits {
  affected_agents: AgentModel[];
}

/** What this month's model calls cost; dollars are null for an organization that pays in credits. */
export interface OrgSpend {
  period_start: Date;
  period_end: Date;
  spend_usd: string | null;
  metered_spend_usd: string | null;
  budget_limit_usd: string | null;
  remaining_usd: string | null;
}

/** Which models an organization takes and allows, and its budget. */
@Injectable()
export class OrgLimitsService {
  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
    private readonly users: ModelUsers,
    private readonly receipts: ReceiptsRepository,
    private readonly audit: Audit,
  ) {}

  /** As stored, even where the plan would refuse it now. */
  async get(scope: OrgScope): Promise<OrgLimitsView> {
    const limits = limitsOf(await this.repository.settings(this.db, scope));
    return { ...limits, affected_agents: await this.users.agentsOutside(this.db, scope, limits.agent_model_allowlist) };
  }

  /**
   * @throws DomainError 403 `entitlement_required` for setting (never for clearing) what the plan does not include; 422
   *   `model_unknown`, `allowlist_needs_default`
   */
  async update(scope: OrgScope, wish: LimitsPatch): Promise<OrgLimitsView> {
    const patch = normalizeLimits(wish);
    await this.requireEntitled(scope, patch);
    if (Object.keys(patch).length) await this.db.transaction(scope, (tx) => this.store(tx, scope, patch));
    return this.get(scope);
  }

  /** The calendar month, UTC. */
  async spend(scope: OrgScope): Promise<OrgSpend> {
    const now = this.db.now();
    const month = (n: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n, 1));
    const [from, to] = [month(0), month(1)];
    const [{ chats, total }, { budget_limit_usd }, inCredits] = await Promise.all([
      this.receipts.spent(this.db, scope, from, to),
      this.repository.settings(this.db, scope),
      this.entitlements.has(scope.orgId, 'enforces_credits'),
    ]);
    return {
      period_start: from,
      period_end: to,
      spend_usd: inCredits ? null : chats,
      metered_spend_usd: inCredits ? null : total,
      budget_limit_usd,
      remaining_usd: inCredits || budget_limit_usd === null ? null : remainingOf(budget_limit_usd, chats),
    };
  }

  private async store(tx: Tx, scope: OrgScope, patch: Partial<OrgLimits>): Promise<void> {
    const before = limitsOf(await this.repository.lockSettings(tx, scope));
    // What is sent back as it was read changes nothing, whatever the catalog says of it by now.
    const changes = changesOf(withPlainBudget(before), withPlainBudget(patch));
    if (!Object.keys(changes).length) return;
    await this.assertKnown(tx, scope, before, changes);
    assertDefaultsAllowed({ ...before, ...changes }, changes);
    await this.repository.saveSettings(tx, scope, changes);
    await this.audit.record(tx, scope, 'settings.limits_updated', { kind: 'organization', id: scope.orgId }, { changes });
    this.settings.announce(tx, 'settings.changed', scope.orgId);
  }

  /** @throws DomainError 403 `entitlement_required` */
  private async requireEntitled({ orgId }: OrgScope, patch: Partial<OrgLimits>): Promise<void> {
    if (setsModels(patch)) await this.entitlements.require(orgId, 'direct_model_choice');
    if (typeof patch.budget_limit_usd === 'string' && (await this.entitlements.has(orgId, 'enforces_credits'))) {
      throw new DomainError('entitlement_required', 'This organization pays in credits; a budget in dollars does not apply.', {
        context: { entitlement: 'enforces_credits' },
      });
    }
  }

  /** Those that are named anew. @throws DomainError 422 `model_unknown`; its context has keys that would be known */
  private async assertKnown(tx: Tx, scope: OrgScope, before: OrgLimits, changes: Partial<OrgLimits>): Promise<void> {
    const old = new Set(namedModels(before).map(({ key, path }) => `${path[0]} ${key}`));
    const named = namedModels(changes).filter(({ key, path }) => !old.has(`${path[0]} ${key}`));
    const known = await this.repository.holdChatKeys(tx, scope, [...new Set(named.map((n) => n.key))]);
    const problems = named
      .filter((n) => !known.has(n.key))
      .map((n) => ({ loc: ['body', ...n.path], msg: 'There is no such chat model.', type: 'semantic.model_unknown' }));
    if (!problems.length) return;
    const valid = (await this.settings.view(scope.orgId)).enabled('chat').map(({ key }) => key);
    throw new DomainError(
      'model_unknown',
      `There is no such chat model. There are: ${valid.slice(0, 20).join(', ') || 'none'}${valid.length > 20 ? ' and others' : ''}.`,
      {
        context: { valid: valid.slice(0, 100) },
        problems,
      },
    );
  }
}

/** Its column has all the digits of its scale. */
const withPlainBudget = <L extends Partial<OrgLimits>>(limits: L): L =>
  typeof limits.budget_limit_usd === 'string' ? { ...limits, budget_limit_usd: plain(limits.budget_limit_usd) } : limits;
