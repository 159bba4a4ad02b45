import { DomainError } from '@aps/contracts';

/** What is to be bought, by whom. */
export interface CheckoutWish {
  product_id: string;
  /** Who pays: the provider's customer is a person, and pays for any number of organizations. */
  buyer: { id: string; email: string; name: string };
  /** Comes back with the order and the subscription that become of it. */
  metadata: Record<string, string>;
}

/** A page of the provider's that is open for a while. */
export interface ProviderPage {
  url: string;
  expires_at: Date;
}

/**
 * Who takes the money. What it does about our wishes comes back as deliveries, and those alone change anything here.
 *
 * Every method throws 422 `provider_refused` with the provider's reason, or 502 `upstream_unavailable`; then it is not known whether it
 * was done. None may be called inside a transaction.
 */
export abstract class PaymentProvider {
  abstract createCheckout(wish: CheckoutWish): Promise<ProviderPage & { id: string }>;
  /** Puts a subscription on another product, paid at once. */
  abstract changeSubscription(id: string, wish: { product_id: string; metadata: Record<string, string> }): Promise<void>;
  abstract setCancelAtPeriodEnd(id: string, cancel: boolean): Promise<void>;
  /** A page where a customer sees orders and payment methods. Its address lets in whoever has it. */
  abstract createCustomerSession(customerId: string): Promise<ProviderPage>;
}

/** The provider rejected the request. */
export const providerRefused = (reason: string): DomainError =>
  new DomainError('provider_refused', `The payment provider refuses: ${reason}`, { context: { reason } });

/** Nothing that the provider said tells whether it did what it was asked for: it may not have been reached, or have done it. */
export const providerUnavailable = (cause?: unknown): DomainError =>
  new DomainError('upstream_unavailable', 'The payment provider cannot be reached. Try again.', { cause });
