import { readOrder, readSubscription, subjectsOf } from './payload.policy';

const ORG = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
const at = '2026-11-20T09:30:00Z';

describe('an order', () => {
  it('is read field by field, whatever else stands there', () => {
    const data = {
      ...{ id: 'o1', status: 'paid', billing_reason: 'subscription_create', product_id: ORG.toUpperCase(), subscription_id: 's1' },
      ...{ checkout_id: 'c1', customer_id: 'k1', created_at: '2026-01-01T00:00:00Z', modified_at: at, unknown: { deep: [] } },
      metadata: { org_id: ORG, kind: 'plan', code: 'starter', change_id: 'x', more: 1 },
      customer: { external_id: ORG },
      subscription: {
        id: 's1',
        status: 'trialing',
        current_period_start: at,
        current_period_end: '2026-12-20T09:30:00Z',
        modified_at: null,
        created_at: at,
      },
    };
    expect(readOrder({ type: 'order.paid', timestamp: at, data })).toEqual({
      ...{ id: 'o1', status: 'paid', billing_reason: 'subscription_create', product_id: ORG, at: new Date(at) },
      belongs: {
        ...{ checkout_id: 'c1', subscription_id: 's1', customer_id: 'k1', payer_id: ORG },
        metadata: { org_id: ORG, kind: 'plan', code: 'starter', change_id: 'x' },
      },
      subscription: {
        ...{ id: 's1', status: 'trialing', product_id: ORG, customer_id: 'k1', cancel_at_period_end: null, at: new Date(at) },
        ...{ current_period_start: new Date(at), current_period_end: new Date('2026-12-20T09:30:00Z') },
      },
      ...{ refunded: '1', refunded_amount: 'all' },
    });
  });

  it('has the time of its change, else of its making, else of its delivery', () => {
    const timeOf = (data: object, timestamp?: unknown) => readOrder({ data: { id: 'o', ...data }, timestamp })?.at.toISOString();
    const made = '2026-01-01T00:00:00.000Z';
    expect(timeOf({ modified_at: '2026-02-01T00:00:00+01:00', created_at: made }, at)).toBe('2026-01-31T23:00:00.000Z');
    expect(timeOf({ modified_at: null, created_at: made }, at)).toBe(made);
    expect(timeOf({}, at)).toBe('2026-11-20T09:30:00.000Z');
    expect(timeOf({ modified_at: 'yesterday', created_at: 5 }, '+275000-01-01T00:00:00Z')).toBe('1970-01-01T00:00:00.000Z');
  });

  it('tells of its subscription at its own time where that has none, and of one that it only names nothing that is newer', () => {
    const told = (subscription: object) =>
      readOrder({ data: { id: 'o', modified_at: at, subscription_id: 's', subscription } })!.subscription!;
    expect(told({ id: 's', status: 'active' })).toMatchObject({ status: 'active', at: new Date(at) });
    expect(told({ id: 's' })).toMatchObject({ status: 'active', at: new Date(0) });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['a text', 'x'],
    ['no id', {}],
    ['a number for an id', { id: 5 }],
    ['an endless id', { id: 'x'.repeat(256) }],
  ])('is none of %s', (_, data) => {
    expect([readOrder({ data }), readSubscription({ data })]).toEqual([null, null]);
  });

  it('takes nothing for what it is not', () => {
    const data = { id: 'o', product_id: 'x', subscription_id: {}, metadata: [], customer: 'x', subscription: 7, refunded_amount: '5' };
    expect(readOrder({ data })).toMatchObject({
      product_id: null,
      subscription: null,
      belongs: { subscription_id: null, payer_id: null, metadata: { org_id: null } },
    });
  });

  it.each([
    [{ status: 'partially_refunded', refunded_amount: 250, net_amount: 1_000 }, '0.25', '250'],
    [{ status: 'partially_refunded', refunded_amount: 250, total_amount: 500 }, '0.5', '250'],
    [{ status: 'partially_refunded', refunded_amount: 900, net_amount: 500 }, '1', '900'],
    [{ status: 'refunded', refunded_amount: 900, net_amount: 1_000 }, '1', '900'],
    [{ status: 'refunded' }, '1', 'all'],
    [{ status: 'partially_refunded', refunded_amount: 0, net_amount: 0 }, '1', '0'],
  ])('was paid back as its amounts say: %j', (data, refunded, refunded_amount) => {
    expect(readOrder({ data: { id: 'o', ...data } })).toMatchObject({ refunded, refunded_amount });
  });
});

describe('what a delivery is about', () => {
  it('is its order or subscription, and the subscription of the order, in one order for all', () => {
    const both = ['a', 'b'];
    expect(subjectsOf({ data: { id: 'b', subscription_id: 'a' } })).toEqual(both);
    expect(subjectsOf({ data: { id: 'a', subscription: { id: 'b' } } })).toEqual(both);
    expect(subjectsOf({ data: { id: 'a', subscription_id: 'a' } })).toEqual(['a']);
    expect(subjectsOf({ data: { id: 7, subscription_id: null } })).toEqual([]);
    expect(subjectsOf({})).toEqual([]);
  });
});
