import { createHash, randomBytes } from 'node:crypto';
import { EgressError, jsonOf, type Egress, type EgressPurpose, type EgressRequest, type EgressResponse } from '@aps/platform/egress';
import { appLink } from '@aps/platform/mail';
import type { z } from 'zod';
import { isSameIssuer, Refusal, ServerMetadata, TokenAnswer } from './metadata';

const TIME_MS = 10_000;
const MAX_BYTES = 256 * 1024;
/** No token is taken to be good for longer, seconds: more than a time can be written for may be said of one. */
const MAX_EXPIRES_S = 10 * 365 * 24 * 60 * 60;
/** How a client proves who it is, the one that we like best first. */
export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
/** What a server asks of a client that has a secret, where it does not say. */
export const DEFAULT_METHOD = 'client_secret_basic';

/** Who we are to an authorization server. Its secret is one. */
export interface OAuthIdentity {
  clientId: string;
  clientSecret: string | null;
  authMethod: (typeof AUTH_METHODS)[number];
}

/** Where tokens come from, and what for. Holds no secret. */
export interface OAuthIssuer {
  issuer: string;
  tokenEndpoint: string;
  revocationEndpoint: string | null;
  /** What the tokens are for, as the server names itself; null where they are for the issuer itself. */
  resource: string | null;
  /** It says in each answer of a person's consent that the answer is its own. */
  announcesIss: boolean;
}

/** What a person is asked to consent to. All but the address is needed again when they come back; verifier and state are secrets. */
export interface ConsentRequest {
  authorizeUrl: string;
  state: string;
  verifier: string;
  issuer: OAuthIssuer;
  client: OAuthIdentity;
}

export interface Tokens {
  accessToken: string;
  refreshToken: string | null;
  /** Of OpenID providers. Nothing of it is looked at here. */
  idToken?: string;
  /** Null where the issuer does not say. */
  expiresAt: Date | null;
  scope: string | null;
}

/** What was asked of an authorization server did not come about. The sentence may be shown to whoever has asked. */
export class OAuthFailed extends Error {
  /** It did not answer, or says itself that it cannot; what was asked may come about later. */
  readonly isAway: boolean;

  constructor(message: string, { isAway = false, ...options }: ErrorOptions & { isAway?: boolean } = {}) {
    super(message, options);
    this.isAway = isAway;
  }
}

/** The grant is no longer any good: only a new consent helps. */
export class GrantInvalid extends OAuthFailed {}

/** Makes a secret that goes out as a hash first (RFC 7636). */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

/**
 * A client of authorization servers: has people consent by a code, with PKCE, and takes tokens for it. It keeps nothing. What is sent to a server
 * follows no redirect.
 */
export class AuthorizationServers {
  /**
   * @param purpose who has chosen the addresses
   * @param callback the path that people come back to
   */
  constructor(
    private readonly egress: Egress,
    private readonly purpose: EgressPurpose,
    private readonly callback: string,
  ) {}

  /** The exact address that people come back to. */
  get redirectUri(): string {
    return appLink(this.callback);
  }

  /**
   * What a server says of itself, at the first of the addresses where it does.
   *
   * @throws OAuthFailed also where it is another one than was meant
   */
  async metadataOf<S extends z.ZodType<ServerMetadata>>(
    issuer: string,
    urls: readonly string[],
    schema: S,
    signal: AbortSignal,
  ): Promise<z.infer<S>> {
    for (const url of urls) {
      const metadata = await this.document(url, schema, signal);
      if (!metadata) continue;
      if (!isSameIssuer(metadata.issuer, issuer)) throw new OAuthFailed('The metadata of the authorization server are of another one.');
      return metadata;
    }
    throw new OAuthFailed('The authorization server does not say how it is asked.');
  }

  /**
   * The request for a consent.
   *
   * @param more parameters besides
   */
  consentTo(
    metadata: ServerMetadata,
    client: OAuthIdentity,
    {
      resource = null,
      scopes,
      more,
    }: { resource?: string | null; scopes: Iterable<string>; more?: (verifier: string) => Record<string, string> },
  ): ConsentRequest {
    const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
    const scope = [...scopes].join(' ');
    const url = new URL(metadata.authorization_endpoint);
    const params = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: this.redirectUri,
      state,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      ...(resource !== null && { resource }),
      ...(scope && { scope }),
      ...more?.(verifier),
    };
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
    return { authorizeUrl: url.href, state, verifier, issuer: issuerOf(metadata, resource), client };
  }

  /**
   * Takes the tokens for a consent.
   *
   * @param iss of the answer that the person has come back with
   * @throws OAuthFailed also where the answer is another issuer's; GrantInvalid
   */
  exchange(
    { issuer, client, verifier }: Pick<ConsentRequest, 'issuer' | 'client' | 'verifier'>,
    { code, iss }: { code: string; iss?: string | null },
    signal: AbortSignal,
  ): Promise<Tokens> {
    // One that was not announced may be missing, but not be another's.
    if (iss ? iss !== issuer.issuer : issuer.announcesIss)
      return Promise.reject(new OAuthFailed('The answer does not come from the authorization server that was asked.'));
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: this.redirectUri };
    return this.tokens(issuer, client, grant, signal);
  }

  /**
   * Takes new tokens for old. The refresh token of the answer is the one to use from now on, which may still be the same.
   *
   * @throws GrantInvalid where the issuer does not take the token any more; OAuthFailed for everything else, after which it may be good still
   */
  async refresh(issuer: OAuthIssuer, client: OAuthIdentity, refreshToken: string, signal: AbortSignal): Promise<Tokens> {
    const tokens = await this.tokens(issuer, client, { grant_type: 'refresh_token', refresh_token: refreshToken }, signal);
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  }

  /** Has a token forgotten, where the issuer has a way to (RFC 7009). @param of.hint which kind it is @throws OAuthFailed */
  async revoke(
    issuer: OAuthIssuer,
    client: OAuthIdentity,
    { token, hint }: { token: string; hint: 'refresh_token' | 'access_token' },
    signal: AbortSignal,
  ): Promise<void> {
    if (issuer.revocationEndpoint) await this.post(issuer.revocationEndpoint, client, { token, token_type_hint: hint }, signal);
  }

  private async tokens(issuer: OAuthIssuer, client: OAuthIdentity, grant: Record<string, string>, signal: AbortSignal): Promise<Tokens> {
    const asked = Date.now();
    const form = { ...grant, ...(issuer.resource !== null && { resource: issuer.resource }) };
    const answer = await this.post(issuer.tokenEndpoint, client, form, signal);
    const { access_token, refresh_token, id_token, expires_in, scope } = read(answer, TokenAnswer);
    return {
      accessToken: access_token,
      refreshToken: refresh_token ?? null,
      ...(id_token && { idToken: id_token }),
      expiresAt: expires_in ? new Date(asked + Math.min(expires_in, MAX_EXPIRES_S) * 1_000) : null,
      scope: scope ?? null,
    };
  }

  /** A form, with the proof of who we are. */
  private async post(url: string, client: OAuthIdentity, form: Record<string, string>, signal: AbortSignal): Promise<EgressResponse> {
    const { clientId, clientSecret, authMethod } = client;
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const body = new URLSearchParams(form);
    if (authMethod === 'client_secret_basic')
      headers.authorization = `Basic ${Buffer.from(`${[clientId, clientSecret ?? ''].map(encodeURIComponent).join(':')}`).toString('base64')}`;
    else body.set('client_id', clientId);
    if (authMethod === 'client_secret_post') body.set('client_secret', clientSecret ?? '');
    return accepted(await this.ask(url, { method: 'POST', headers, body: body.toString(), maxRedirects: 0 }, signal));
  }

  /** A document, if it is there. @throws OAuthFailed */
  protected async document<S extends z.ZodType>(
    url: string,
    schema: S,
    signal: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<z.infer<S> | undefined> {
    const answer = await this.ask(url, { headers: { accept: 'application/json', ...headers } }, signal);
    return answer.status === 200 ? read(answer, schema) : undefined;
  }

  /** @throws OAuthFailed where there is no answer */
  protected async ask(url: string, request: Omit<EgressRequest, 'purpose'>, signal: AbortSignal): Promise<EgressResponse> {
    try {
      return await this.egress.fetch(url, { ...request, purpose: this.purpose, signal, timeoutMs: TIME_MS, maxBytes: MAX_BYTES });
    } catch (error) {
      if (error instanceof EgressError)
        throw new OAuthFailed(`The authorization server cannot be asked: ${error.message}`, { cause: error, isAway: !error.refused });
      if (signal.aborted) throw new OAuthFailed('The authorization server took too long to answer.', { cause: error, isAway: true });
      throw error;
    }
  }
}

/** What of the metadata is needed for tokens. */
export const issuerOf = (metadata: ServerMetadata, resource: string | null = null): OAuthIssuer => ({
  issuer: metadata.issuer,
  tokenEndpoint: metadata.token_endpoint,
  revocationEndpoint: metadata.revocation_endpoint ?? null,
  resource,
  announcesIss: metadata.authorization_response_iss_parameter_supported === true,
});

/** Who we are, with what we were given. */
export function identityOf(
  { client_id: clientId, client_secret: clientSecret }: { client_id: string; client_secret?: string },
  { token_endpoint_auth_methods_supported: supported }: ServerMetadata,
): OAuthIdentity {
  if (!clientSecret) return { clientId, clientSecret: null, authMethod: 'none' };
  const method = AUTH_METHODS.find((one) => one !== 'none' && supported?.includes(one));
  return { clientId, clientSecret, authMethod: method ?? DEFAULT_METHOD };
}

/** @throws GrantInvalid, OAuthFailed where the answer refuses */
export function accepted(answer: EgressResponse): EgressResponse {
  if (answer.status >= 200 && answer.status < 300) return answer;
  const code = Refusal.safeParse(jsonOf(answer)).data?.error;
  if (code === 'invalid_grant') throw new GrantInvalid('The authorization server does not take the grant any more.');
  const isAway = answer.status >= 500 || answer.status === 429;
  throw new OAuthFailed(`The authorization server refused: ${code ?? `status ${answer.status}`}.`, { isAway });
}

/** @throws OAuthFailed */
export function read<S extends z.ZodType>(answer: EgressResponse, schema: S): z.infer<S> {
  const { success, data } = schema.safeParse(jsonOf(answer));
  if (!success) throw new OAuthFailed('The authorization server gave an answer that cannot be used.');
  return data;
}
