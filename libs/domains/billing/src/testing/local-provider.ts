import { CreditPack, Plan } from '@aps/entities';
import { WEBHOOK_SECRET } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';
import { startLocalProvider, type LocalProvider } from '../../../../../tools/local-provider/server';

/** A payment provider that the service asks, and that delivers to an address. Whoever starts it closes it. */
export async function startProviderOf(t: TestService, webhookUrl: string): Promise<LocalProvider> {
  const provider = await startLocalProvider({ webhookUrl, webhookSecret: WEBHOOK_SECRET, catalog: (id) => productOf(t, id) });
  t.configure({ POLAR_API_URL: provider.url, POLAR_ACCESS_TOKEN: 'polar_oat_test', POLAR_WEBHOOK_SECRETS: WEBHOOK_SECRET });
  return provider;
}

/** A payment provider for the file or the `describe` in which it is made: the service asks it, and is delivered to at `webhookUrl`. */
export function aLocalProvider(
  t: TestService,
  webhookUrl: () => string,
): { readonly it: LocalProvider; control: (wish: object) => Promise<Books> } {
  let provider: LocalProvider;
  beforeAll(async () => {
    provider = await startProviderOf(t, webhookUrl());
  });
  afterAll(() => provider?.close());
  const control = async (wish: object) => {
    const response = await fetch(`${provider.url}/_control`, { method: 'POST', body: JSON.stringify(wish) });
    if (!response.ok) throw new Error(`_control answered ${response.status} ${await response.text()}`);
    return (await response.json()) as Books;
  };
  return {
    get it() {
      return provider;
    },
    control,
  };
}

interface Books {
  customers: { id: string; external_id: string }[];
  checkouts: { id: string; metadata: object }[];
  subscriptions: { id: string; status: string; product_id: string; current_period_end: string; cancel_at_period_end: boolean }[];
  orders: { id: string; billing_reason: string; amount: number; metadata: object }[];
  deliveries: { id: string; type: string; tries: number; status: number | null; done: boolean }[];
}

async function productOf(t: TestService, id: string) {
  const cents = (price: string | null) => Math.round(Number(price ?? 10) * 100);
  const [plan] = await t.db.manager.findBy(Plan, [{ polar_product_id: id }, { polar_product_id_annual: id }]);
  const isAnnual = plan?.polar_product_id_annual === id;
  if (plan)
    return {
      id,
      name: plan.name,
      price: cents(plan.price_display) * (isAnnual ? 12 : 1),
      interval: isAnnual ? ('year' as const) : ('month' as const),
    };
  const pack = await t.db.manager.findOneBy(CreditPack, { polar_product_id: id });
  return pack ? { id, name: pack.name, price: cents(pack.price_display), interval: null } : undefined;
}
