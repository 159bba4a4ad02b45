import { BillingCatalogResponse, CatalogPlan, PackProductRow, PlanMargin, PlanResponse, ProductCollision } from '@aps/dtos';
import type { CreditPack } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { PlansQueries, PlanView } from '../plans/plans.queries';

export const toPlan = (plan: PlanView): PlanResponse =>
  answer(PlanResponse, plan, { margin: plan.margin && answer(PlanMargin, plan.margin) });

export const toPack = (pack: CreditPack): PackProductRow => answer(PackProductRow, pack);

export const toCatalog = ({ plans, packs, collisions }: Awaited<ReturnType<PlansQueries['catalog']>>): BillingCatalogResponse => ({
  plans: plans.map((plan) => answer(CatalogPlan, plan)),
  packs: packs.map(toPack),
  collisions: collisions.map((collision) => answer(ProductCollision, collision)),
});
