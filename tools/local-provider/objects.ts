/** What Polar's API answers, as its SDK reads it: every field that must be there. */

export interface Product {
  id: string;
  name: string;
  /** In cents. */
  price: number;
  /** Null for what is bought once. */
  interval: 'month' | 'year' | null;
}

export interface Customer {
  id: string;
  external_id: string | null;
  email: string;
  name: string | null;
  created_at: string;
}

export interface Checkout {
  id: string;
  customer_id: string;
  product_id: string;
  status: 'open' | 'succeeded';
  metadata: Metadata;
  success_url: string | null;
  created_at: string;
  modified_at: string | null;
  expires_at: string;
}

export interface Subscription {
  id: string;
  customer_id: string;
  product_id: string;
  checkout_id: string | null;
  status: 'active' | 'past_due' | 'canceled';
  current_period_start: string;
  current_period_end: string;
  cancel_at_period_end: boolean;
  canceled_at: string | null;
  ended_at: string | null;
  metadata: Metadata;
  created_at: string;
  modified_at: string | null;
}

export interface Order {
  id: string;
  customer_id: string;
  product_id: string;
  subscription_id: string | null;
  checkout_id: string | null;
  status: 'paid' | 'refunded' | 'partially_refunded';
  billing_reason: 'purchase' | 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  amount: number;
  refunded_amount: number;
  metadata: Metadata;
  /** As it was then. */
  subscription: object | null;
  created_at: string;
  modified_at: string | null;
}

export type Metadata = Record<string, string | number | boolean>;

const ORGANIZATION = '00000000-0000-4000-8000-000000000001';
const CURRENCY = 'usd';

export const customerObject = (customer: Customer) => ({
  ...customer,
  modified_at: null,
  metadata: {},
  email_verified: true,
  type: 'individual',
  billing_name: customer.name,
  billing_address: null,
  tax_id: null,
  organization_id: ORGANIZATION,
  deleted_at: null,
  avatar_url: null,
});

export const productObject = ({ id, name, interval }: Product) => ({
  id,
  name,
  created_at: '2026-01-01T00:00:00Z',
  modified_at: null,
  trial_interval: null,
  trial_interval_count: null,
  description: null,
  visibility: 'public',
  recurring_interval: interval,
  recurring_interval_count: interval && 1,
  meter_interval: null,
  meter_interval_count: null,
  is_recurring: interval !== null,
  is_archived: false,
  organization_id: ORGANIZATION,
  metadata: {},
  prices: [],
  benefits: [],
  medias: [],
  attached_custom_fields: [],
});

export const checkoutObject = (checkout: Checkout, product: Product, customer: Customer, url: string) => ({
  ...checkout,
  custom_field_data: {},
  payment_processor: 'stripe',
  client_secret: `local_${checkout.id}`,
  url,
  success_url: checkout.success_url ?? url,
  return_url: checkout.success_url,
  embed_origin: null,
  amount: product.price,
  discount_amount: 0,
  net_amount: product.price,
  tax_amount: 0,
  tax_behavior: null,
  total_amount: product.price,
  currency: CURRENCY,
  allow_trial: null,
  active_trial_interval: null,
  active_trial_interval_count: null,
  trial_end: null,
  organization_id: ORGANIZATION,
  product_price_id: null,
  discount_id: null,
  allow_discount_codes: false,
  require_billing_address: false,
  is_discount_applicable: false,
  is_free_product_price: product.price === 0,
  is_payment_required: product.price > 0,
  is_payment_setup_required: false,
  is_payment_form_required: product.price > 0,
  is_business_customer: false,
  customer_name: customer.name,
  customer_email: customer.email,
  customer_ip_address: null,
  customer_billing_name: null,
  customer_billing_address: null,
  customer_tax_id: null,
  payment_processor_metadata: {},
  billing_address_fields: {
    country: 'required',
    state: 'disabled',
    city: 'disabled',
    postal_code: 'disabled',
    line1: 'disabled',
    line2: 'disabled',
  },
  trial_interval: null,
  trial_interval_count: null,
  external_customer_id: customer.external_id,
  products: [productObject(product)],
  product: productObject(product),
  product_price: null,
  prices: null,
  discount: null,
  subscription_id: null,
  attached_custom_fields: [],
  customer_metadata: {},
});

/** Without what it refers to, as an order has it. */
export const bareSubscription = (subscription: Subscription, product: Product) => ({
  ...subscription,
  amount: product.price,
  currency: CURRENCY,
  recurring_interval: product.interval ?? 'month',
  recurring_interval_count: 1,
  current_meter_period_start: null,
  current_meter_period_end: null,
  trial_start: null,
  trial_end: null,
  started_at: subscription.created_at,
  ends_at: subscription.cancel_at_period_end ? subscription.current_period_end : subscription.ended_at,
  pause_at_period_end: false,
  paused_at: null,
  resumes_at: null,
  discount_id: null,
  customer_cancellation_reason: null,
  customer_cancellation_comment: null,
});

export const subscriptionObject = (subscription: Subscription, product: Product, customer: Customer) => ({
  ...bareSubscription(subscription, product),
  custom_field_data: {},
  customer: customerObject(customer),
  product: productObject(product),
  discount: null,
  prices: [],
  meters: [],
  pending_update: null,
});

export const orderObject = ({ amount, ...order }: Order, product: Product, customer: Customer) => ({
  ...order,
  paid: true,
  subtotal_amount: amount,
  discount_amount: 0,
  net_amount: amount,
  tax_amount: 0,
  total_amount: amount,
  applied_balance_amount: 0,
  due_amount: 0,
  refunded_tax_amount: 0,
  currency: CURRENCY,
  billing_name: customer.name,
  billing_address: null,
  invoice_number: null,
  is_invoice_generated: false,
  receipt_number: null,
  discount_id: null,
  custom_field_data: {},
  platform_fee_amount: 0,
  platform_fee_currency: null,
  customer: customerObject(customer),
  product: productObject(product),
  discount: null,
  items: [],
  description: product.name,
  refundable_amount: amount - order.refunded_amount,
  refundable_tax_amount: 0,
});
