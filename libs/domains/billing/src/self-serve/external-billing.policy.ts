import type { SubscriptionView } from '../subscriptions/credit-accounts.queries';
import { STATUS_BY_PROVIDER } from '../subscriptions/orders.policy';
import { isLive } from '../subscriptions/periods.policy';
import type { ExternalRow } from './external-billing.queries';

/** Something that is not as it would be by what the provider has told. */
export interface Difference {
  field: 'subscription' | 'status' | 'plan' | 'period_end';
  external: string | null;
  local: string | null;
}

type Local = Pick<SubscriptionView, 'plan_code' | 'status' | 'period_end'>;

/** What an operator should look at: deliveries that are missing, or what was changed on one side alone. */
export function differencesOf(all: ExternalRow[], local: Local | null): Difference[] {
  const current = all.find(({ is_current }) => is_current);
  const others = all.filter((one) => one !== current && isLive(one));
  const paidBeside = others.map(({ id }) => ({ field: 'subscription' as const, external: id, local: current?.id ?? null }));
  return [...(current ? ofCurrent(current, local) : []), ...paidBeside];
}

function ofCurrent(external: ExternalRow, local: Local | null): Difference[] {
  const period_end = external.current_period_end?.toISOString() ?? null;
  const found: (Difference & { isOne: boolean })[] = [
    {
      field: 'status',
      external: STATUS_BY_PROVIDER[external.status ?? ''] ?? null,
      local: local?.status ?? null,
      isOne: external.status !== null,
    },
    { field: 'plan', external: external.plan_code, local: local?.plan_code ?? null, isOne: true },
    // The months of a year end before it does.
    {
      field: 'period_end',
      external: period_end,
      local: local?.period_end?.toISOString() ?? null,
      isOne: !external.is_annual && period_end !== null,
    },
  ];
  return found
    .filter(({ isOne, external: theirs, local: ours }) => isOne && theirs !== ours)
    .map(({ isOne: _, ...difference }) => difference);
}
