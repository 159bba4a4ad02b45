import { Injectable, Logger } from '@nestjs/common';
import { storable } from '@aps/platform/database';
import { appLink } from '@aps/platform/mail';
import { PaymentProvider, providerRefused, providerUnavailable, type CheckoutWish, type ProviderPage } from './payment-provider';
import { providerConfig } from './provider.config';

/**
 * The parts of the SDK that are used, loaded when the first is: all of it would take longer to load than the rest of the gateway. Loading
 * them is synchronous work, so it is done once.
 */
const loadSdk = async () => {
  const [{ PolarCore }, { HTTPClient }, { PolarError }, { ResponseValidationError }, checkouts, subscriptions, sessions] =
    await Promise.all([
      import('@polar-sh/sdk/core.js'),
      import('@polar-sh/sdk/lib/http.js'),
      import('@polar-sh/sdk/models/errors/polarerror.js'),
      import('@polar-sh/sdk/models/errors/responsevalidationerror.js'),
      import('@polar-sh/sdk/funcs/checkoutsCreate.js'),
      import('@polar-sh/sdk/funcs/subscriptionsUpdate.js'),
      import('@polar-sh/sdk/funcs/customerSessionsCreate.js'),
    ]);
  return { PolarCore, HTTPClient, PolarError, ResponseValidationError, ...checkouts, ...subscriptions, ...sessions };
};
type Sdk = Awaited<ReturnType<typeof loadSdk>>;
type Client = InstanceType<Sdk['PolarCore']>;
type Result<T> = { ok: true; value: T } | { ok: false; error: Error };
type Call<T> = (sdk: Sdk, client: Client) => Promise<Result<T>>;
type Rewrite = (request: Request) => Promise<Request>;

/** Reasons are shown to people; a longer one is none. */
const MAX_REASON = 500;
/** Its refusals that are about us, or about this moment, and not about what was wished. */
const NOT_ABOUT_THE_WISH = new Set([401, 408, 425, 429]);
/** What a 403 about the wish is called; any other is about what our token may. */
const ENDED_ALREADY = 'AlreadyCanceledSubscription';

/** Polar, or what speaks as it does (tools/local-provider). */
@Injectable()
export class PolarProvider extends PaymentProvider {
  private readonly logger = new Logger('PolarProvider');
  private sdk?: Promise<Sdk>;

  async createCheckout({ product_id, buyer, metadata }: CheckoutWish): Promise<ProviderPage & { id: string }> {
    const { id, url, expiresAt } = await this.ask((sdk, client) =>
      sdk.checkoutsCreate(client, {
        products: [product_id],
        externalCustomerId: buyer.id,
        customerEmail: buyer.email,
        customerName: buyer.name,
        metadata,
        successUrl: returnUrl(),
        returnUrl: returnUrl(),
      }),
    );
    return { id, url, expires_at: expiresAt };
  }

  async changeSubscription(id: string, { product_id, metadata }: { product_id: string; metadata: Record<string, string> }): Promise<void> {
    await this.wish(
      (sdk, client) => sdk.subscriptionsUpdate(client, { id, subscriptionUpdate: { productId: product_id, prorationBehavior: 'invoice' } }),
      // A field that the SDK's class of this request does not have, and leaves out.
      async (request) => new Request(request, { body: JSON.stringify({ ...((await request.clone().json()) as object), metadata }) }),
    );
  }

  async setCancelAtPeriodEnd(id: string, cancel: boolean): Promise<void> {
    await this.wish((sdk, client) => sdk.subscriptionsUpdate(client, { id, subscriptionUpdate: { cancelAtPeriodEnd: cancel } }));
  }

  async createCustomerSession(customerId: string): Promise<ProviderPage> {
    const { customerPortalUrl, expiresAt } = await this.ask((sdk, client) =>
      sdk.customerSessionsCreate(client, { customerId, returnUrl: returnUrl() }),
    );
    return { url: customerPortalUrl, expires_at: expiresAt };
  }

  /** A wish whose answer is of no interest: one in JSON that says yes, and that the SDK cannot read, is a yes. */
  private wish(call: Call<unknown>, rewrite?: Rewrite): Promise<unknown> {
    return this.ask(async (sdk, client) => {
      const result = await call(sdk, client);
      const done = !result.ok && result.error instanceof sdk.ResponseValidationError && result.error.statusCode < 300;
      return done ? { ok: true, value: undefined } : result;
    }, rewrite);
  }

  private async ask<T>(call: Call<T>, rewrite?: Rewrite): Promise<T> {
    const { accessToken, apiUrl, timeoutMs } = providerConfig.value;
    if (!accessToken) throw providerUnavailable();
    const sdk = await (this.sdk ??= loadSdk());
    // What it leads elsewhere to is not followed: the token is for it alone.
    const httpClient = new sdk.HTTPClient({ fetcher: (input: string | URL | Request) => fetch(input, { redirect: 'manual' }) });
    if (rewrite) httpClient.addHook('beforeRequest', rewrite);
    const client = new sdk.PolarCore({ accessToken, serverURL: apiUrl, timeoutMs, httpClient });
    // Of an answer that ends in its middle it does not say so, but throws.
    const result = await call(sdk, client).catch((error: Error): Result<T> => ({ ok: false, error }));
    if (result.ok) return result.value;
    throw this.refusalOf(result.error, sdk);
  }

  private refusalOf(error: Error, { PolarError }: Sdk): Error {
    const answered = error instanceof PolarError ? error : undefined;
    const status = answered?.statusCode ?? 0;
    const said = status >= 400 && status < 500 && !NOT_ABOUT_THE_WISH.has(status) ? refusalIn(answered!.body) : undefined;
    if (said?.reason && (status !== 403 || said.error === ENDED_ALREADY)) return providerRefused(said.reason);
    // Its words may be a page of somebody else's; what happened is told without them.
    this.logger.warn(`The payment provider did not do what was asked: ${error.name}${status ? `, status ${status}` : ''}`);
    return providerUnavailable(error.name);
  }
}

const returnUrl = (): string => providerConfig.value.returnUrl ?? appLink('/');

/** What it calls a refusal, and says of it in the field `detail`, as a sentence or as a list of problems. */
function refusalIn(body: string): { error: unknown; reason: string | undefined } | undefined {
  let error: unknown, detail: unknown;
  try {
    ({ error, detail } = JSON.parse(body) as { error?: unknown; detail?: unknown });
  } catch {
    return undefined;
  }
  const said = Array.isArray(detail) ? detail.map((problem: { msg?: unknown } | null) => problem?.msg) : [detail];
  const sentences = said.filter((sentence): sentence is string => typeof sentence === 'string' && sentence.length > 0);
  return { error, reason: sentences.length ? storable(sentences.join('; ').slice(0, MAX_REASON)) : undefined };
}
