import { DomainError } from '@aps/contracts';
import type { CreditPack, Plan } from '@aps/entities';
import { isUniqueViolation } from '@aps/platform/database';
import { forEach, isZero, stored } from '../amounts';
import { CAPS, FEATURES } from '../entitlements';

/** What is said of a plan or a pack; what is left out has its default. */
type Said<Row, Required extends keyof Row> = Partial<Omit<Row, 'id' | 'created_at' | 'updated_at'>> & Pick<Row, Required>;
export type PlanInput = Said<Plan, 'code' | 'name'>;
export type PackInput = Said<CreditPack, 'code' | 'name' | 'credits'>;

/** Products of the payment provider. */
export type Products = Pick<Plan, 'polar_product_id' | 'polar_product_id_annual'>;

const PLAN_DEFAULTS = {
  sort_order: 0,
  price_display: null,
  price_currency: 'USD',
  monthly_credits: '0',
  initial_credits: '0',
  overdraft_pct: '0',
  renews: true,
  is_enterprise: false,
  ...(Object.fromEntries(FEATURES.map((name) => [name, false])) as Record<(typeof FEATURES)[number], boolean>),
  ...(Object.fromEntries(CAPS.map((name) => [name, 0])) as Record<(typeof CAPS)[number], number>),
  polar_product_id: null,
  polar_product_id_annual: null,
};

const PACK_DEFAULTS = { price_display: null, price_currency: 'USD', is_active: true, sort_order: 0, polar_product_id: null };

/** The fields of a plan that entitle, by name. */
export const ENTITLEMENT_FIELDS = [...FEATURES, ...CAPS, 'is_enterprise'].sort();

/** A product's id in the form in which its column has it. */
const product = (id: string | null): string | null => id && id.toLowerCase();

/** All columns of a plan, as they are stored. */
export function planColumns(input: PlanInput) {
  const plan = { ...PLAN_DEFAULTS, ...given(input) };
  return {
    ...plan,
    name: plan.name.trim(),
    price_display: plan.price_display && stored(plan.price_display),
    monthly_credits: stored(plan.monthly_credits),
    initial_credits: stored(plan.initial_credits),
    overdraft_pct: stored(plan.overdraft_pct),
    ...productColumns(plan),
  };
}

/** All columns of a pack, as they are stored. */
export function packColumns(input: PackInput) {
  const pack = { ...PACK_DEFAULTS, ...given(input) };
  return {
    ...pack,
    name: pack.name.trim(),
    credits: stored(pack.credits),
    price_display: pack.price_display && stored(pack.price_display),
    polar_product_id: product(pack.polar_product_id),
  };
}

/** @throws DomainError 409 `product_taken` where one product is meant to be paid by the month and by the year */
export function productColumns({ polar_product_id = null, polar_product_id_annual = null }: Partial<Products>): Products {
  const products = { polar_product_id: product(polar_product_id), polar_product_id_annual: product(polar_product_id_annual) };
  if (products.polar_product_id && products.polar_product_id === products.polar_product_id_annual)
    throw new DomainError('product_taken', 'A product is paid by the month or by the year.');
  return products;
}

const given = <T extends object>(input: T): T => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T;

/** @throws DomainError 409 `code_taken`, `product_taken` where the write would give two plans, or two packs, the same */
export const refusingTaken = <T>(table: 'plans' | 'credit_packs', write: Promise<T>): Promise<T> =>
  write.catch((error: unknown) => {
    if (isUniqueViolation(error, `${table}_code`)) throw new DomainError('code_taken', 'This code is taken.');
    if (isUniqueViolation(error, 'credit_packs_product')) throw new DomainError('product_taken', 'Another pack has this product.');
    throw error;
  });

/** What 1,000 credits cost by the month; null without a price or credits. */
export function pricePoint({ price_display, monthly_credits }: Pick<Plan, 'price_display' | 'monthly_credits'>): string | null {
  return price_display === null || isZero(monthly_credits) ? null : forEach(1_000, price_display, monthly_credits);
}

/** Products that stand for several. Plans have none in common with each other, and packs none, so it is a plan and a pack. */
export function collisionsOf(plans: readonly Plan[], packs: readonly CreditPack[]): { product_id: string; names: string[] }[] {
  const named = new Map<string, string[]>();
  const note = (product_id: string | null, name: string) => product_id && named.set(product_id, [...(named.get(product_id) ?? []), name]);
  for (const plan of plans) {
    note(plan.polar_product_id, `plan ${plan.code}`);
    note(plan.polar_product_id_annual, `plan ${plan.code} (annual)`);
  }
  for (const pack of packs) note(pack.polar_product_id, `pack ${pack.code}`);
  return [...named].filter(([, names]) => names.length > 1).map(([product_id, names]) => ({ product_id, names }));
}
