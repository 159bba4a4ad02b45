import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Plan } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, changesOf, Database, Table, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { planColumns, productColumns, refusingTaken, type PlanInput, type Products } from './catalog.policy';
import { PlanEntitlements } from './plan-entitlements';
import { PlansQueries, type PlanView } from './plans.queries';
import { PlansRepository } from './plans.repository';

/** Plans as operators make them. One write at a time, so that no two plans get the same product in different columns. */
@Injectable()
export class PlansService {
  private readonly plans = new Table(Plan);

  constructor(
    private readonly db: Database,
    private readonly repository: PlansRepository,
    private readonly queries: PlansQueries,
    private readonly entitlements: PlanEntitlements,
    private readonly audit: Audit,
  ) {}

  /** @throws DomainError 409 `code_taken`, `product_taken` */
  async create(operator: ActingUser, input: PlanInput): Promise<PlanView> {
    const made = await this.write(operator, async (tx) => {
      const wish = { id: uuidv7(), ...planColumns(input) };
      await this.assertFree(tx, wish);
      const plan = await refusingTaken('plans', this.plans.insert(tx, wish));
      await this.audit.record(tx, operator, 'plan.created', plan.id, { ...planColumns(input) });
      return plan;
    });
    return this.queries.viewWithoutSubscribers(made);
  }

  /** @throws DomainError `not_found`; 409 `code_taken`, `product_taken` */
  async replace(operator: ActingUser, id: string, input: PlanInput): Promise<PlanView> {
    const wish = planColumns(input);
    return this.queries.view(await this.write(operator, (tx) => refusingTaken('plans', this.change(tx, operator, id, wish))));
  }

  /** @throws DomainError `not_found`; 409 `product_taken` */
  setProducts(operator: ActingUser, id: string, products: Partial<Products>) {
    return this.write(operator, async (tx) => {
      await this.change(tx, operator, id, productColumns(products));
      return this.queries.catalog(tx);
    });
  }

  /** @throws DomainError `not_found`; 409 `plan_in_use` where a live organization is subscribed, in whatever state */
  delete(operator: ActingUser, id: string): Promise<void> {
    return this.write(operator, async (tx) => {
      // Nobody subscribes meanwhile.
      const { code } = await this.plans.get(tx, id, 'for update');
      const subscribers = await this.repository.countSubscribers(tx, id);
      if (subscribers) throw new DomainError('plan_in_use', 'Organizations are subscribed to this plan.', { context: { subscribers } });
      await this.repository.forgetDeleted(tx, id);
      await this.plans.delete(tx, id);
      await this.audit.record(tx, operator, 'plan.deleted', id, { code });
    });
  }

  private write<T>(operator: ActingUser, fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.transaction(operator, async (tx) => {
      await advisoryLock(tx, 'plans');
      return fn(tx);
    });
  }

  private async change(tx: Tx, operator: ActingUser, id: string, wish: Partial<Plan>): Promise<Plan> {
    const plan = await this.plans.get(tx, id, 'for no key update');
    const changes = changesOf(plan, wish);
    if (!Object.keys(changes).length) return plan;
    await this.assertFree(tx, { ...plan, ...changes });
    const after = (await this.plans.update(tx, id, changes))!;
    // What it has brought, and the products that it was paid by, are its own under another code, too.
    if (changes.code) await this.repository.renameInOrders(tx, plan.code, changes.code);
    // What its subscribers have been granted is their first month's.
    if (changes.renews) await this.repository.beginPeriods(tx, id, this.db.now());
    await this.audit.record(tx, operator, 'plan.updated', id, { changes });
    this.entitlements.announce(tx, null);
    return after;
  }

  private async assertFree(tx: Tx, { id, polar_product_id, polar_product_id_annual }: Pick<Plan, 'id' | keyof Products>): Promise<void> {
    const products = [polar_product_id, polar_product_id_annual].filter((product) => product !== null);
    const plan = products.length ? await this.repository.otherWithProduct(tx, id, products) : null;
    if (plan !== null) throw new DomainError('product_taken', `The plan ${plan} has this product.`, { context: { plan } });
  }
}
