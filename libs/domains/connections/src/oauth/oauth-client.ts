import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Egress, EgressError, type EgressRequest, type EgressResponse } from '@aps/platform/egress';
import { appLink } from '@aps/platform/mail';
import type { z } from 'zod';
import {
  challengeParameter,
  isPartOf,
  isSameIssuer,
  Refusal,
  Registration,
  ResourceMetadata,
  resourceMetadataUrls,
  ServerMetadata,
  serverMetadataUrls,
  TokenAnswer,
} from './metadata';

const TIME_MS = 10_000;
const MAX_BYTES = 256 * 1024;
/** No token is taken to be good for longer, seconds: more than a time can be written for may be said of one. */
const MAX_EXPIRES_S = 10 * 365 * 24 * 60 * 60;
/** How a client proves who it is, the one that we like best first. */
const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
/** What a server asks of a client that has a secret, where it does not say. */
const DEFAULT_METHOD = 'client_secret_basic';

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
  /** What the tokens are for, as the server names itself. */
  resource: string;
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
  /** Null where the issuer does not say. */
  expiresAt: Date | null;
  scope: string | null;
}

/** What was asked of an authorization server did not come about. The sentence may be shown to who owns the connection. */
export class OAuthFailed extends Error {}

/** The grant is no longer any good: only a new consent helps. */
export class GrantInvalid extends OAuthFailed {}

/** The exact address that people come back to. */
export const oauthRedirectUri = (): string => appLink('/api/oauth/callback');

/**
 * A client of the authorization servers that tool servers name. It keeps nothing. Every address is a choice of a tenant, or of a server that
 * one has chosen, and guarded so; what is sent there follows no redirect.
 */
@Injectable()
export class OAuthClient {
  constructor(private readonly egress: Egress) {}

  /**
   * Finds out where a server's tokens come from, and makes the request for consent. Where no credentials are given, we register.
   *
   * @param challenge the `WWW-Authenticate` that the server has answered with; where there is none at hand it is asked for one
   * @throws OAuthFailed
   */
  async begin(
    {
      serverUrl,
      challenge,
      credentials,
    }: { serverUrl: string; challenge?: string | null; credentials?: { client_id: string; client_secret?: string } },
    signal: AbortSignal,
  ): Promise<ConsentRequest> {
    const server = new URL(serverUrl);
    const said = challenge ?? (await this.challengeOf(server, signal));
    const resource = await this.resourceOf(server, said, signal);
    const metadata = await this.metadataOf(resource?.authorization_servers?.[0] ?? server.origin, signal);
    if (!metadata.code_challenge_methods_supported?.includes('S256'))
      throw new OAuthFailed('The authorization server does not support PKCE with S256.');
    const client = credentials ? identityOf(credentials, metadata) : await this.register(metadata, signal);
    server.hash = '';
    // It goes into the address that people are sent to, and a query may hold a secret.
    server.search = '';
    const issuer: OAuthIssuer = {
      issuer: metadata.issuer,
      tokenEndpoint: metadata.token_endpoint,
      revocationEndpoint: metadata.revocation_endpoint ?? null,
      resource: resource?.resource ?? server.href,
      announcesIss: metadata.authorization_response_iss_parameter_supported === true,
    };
    const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
    const scopes = new Set(challengeParameter(said, 'scope')?.split(' ') ?? resource?.scopes_supported);
    // Without it some servers give no token to refresh by.
    if (metadata.scopes_supported?.includes('offline_access')) scopes.add('offline_access');
    const url = new URL(metadata.authorization_endpoint);
    const params = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: oauthRedirectUri(),
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: issuer.resource,
      ...(scopes.size && { scope: [...scopes].join(' ') }),
      // OpenID Connect gives offline access only where somebody was asked.
      ...(scopes.has('offline_access') && { prompt: 'consent' }),
    };
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
    return { authorizeUrl: url.href, state, verifier, issuer, client };
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
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: oauthRedirectUri() };
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

  /** Has a token forgotten, where the issuer has a way to. @throws OAuthFailed */
  async revoke(issuer: OAuthIssuer, client: OAuthIdentity, token: string, signal: AbortSignal): Promise<void> {
    if (issuer.revocationEndpoint) await this.post(issuer.revocationEndpoint, client, { token }, signal);
  }

  /** Without one, its metadata may still be where they are by default. */
  private async challengeOf(server: URL, signal: AbortSignal): Promise<string> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const asked = this.ask(server.href, { method: 'POST', headers, body, maxRedirects: 0 }, signal);
    const answer = await asked.catch(() => undefined);
    return answer?.headers['www-authenticate'] ?? '';
  }

  private async resourceOf(server: URL, challenge: string, signal: AbortSignal): Promise<ResourceMetadata | undefined> {
    const named = challengeParameter(challenge, 'resource_metadata');
    for (const url of named ? [named] : resourceMetadataUrls(server)) {
      const metadata = await this.document(url, ResourceMetadata, signal);
      if (!metadata) continue;
      // Else a server could have us ask for tokens that are another's.
      if (!isPartOf(server, new URL(metadata.resource))) throw new OAuthFailed('The metadata of the server are of another one.');
      return metadata;
    }
    if (named) throw new OAuthFailed('The server names metadata that are not there.');
    return undefined;
  }

  private async metadataOf(issuer: string, signal: AbortSignal): Promise<ServerMetadata> {
    for (const url of serverMetadataUrls(new URL(issuer))) {
      const metadata = await this.document(url, ServerMetadata, signal);
      if (!metadata) continue;
      if (!isSameIssuer(metadata.issuer, issuer)) throw new OAuthFailed('The metadata of the authorization server are of another one.');
      return metadata;
    }
    throw new OAuthFailed('The authorization server does not say how it is asked.');
  }

  private async register(metadata: ServerMetadata, signal: AbortSignal): Promise<OAuthIdentity> {
    if (!metadata.registration_endpoint)
      throw new OAuthFailed('The authorization server registers no clients; a client has to be made there, and its client_id given.');
    const supported = metadata.token_endpoint_auth_methods_supported ?? [DEFAULT_METHOD];
    const wish = {
      client_name: 'Agent Platform',
      redirect_uris: [oauthRedirectUri()],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: AUTH_METHODS.find((method) => supported.includes(method)) ?? DEFAULT_METHOD,
    };
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const request = { method: 'POST' as const, headers, body: JSON.stringify(wish), maxRedirects: 0 };
    const { client_id, client_secret, token_endpoint_auth_method } = read(
      accepted(await this.ask(metadata.registration_endpoint, request, signal)),
      Registration,
    );
    const given = AUTH_METHODS.find((method) => method === token_endpoint_auth_method);
    const clientSecret = client_secret || null;
    return { clientId: client_id, clientSecret, authMethod: clientSecret ? (given ?? DEFAULT_METHOD) : 'none' };
  }

  private async tokens(issuer: OAuthIssuer, client: OAuthIdentity, grant: Record<string, string>, signal: AbortSignal): Promise<Tokens> {
    const asked = Date.now();
    const answer = await this.post(issuer.tokenEndpoint, client, { ...grant, resource: issuer.resource }, signal);
    const { access_token, refresh_token, expires_in, scope } = read(answer, TokenAnswer);
    return {
      accessToken: access_token,
      refreshToken: refresh_token ?? null,
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

  /** A document at a well-known place, if it is there. */
  private async document<S extends z.ZodType>(url: string, schema: S, signal: AbortSignal): Promise<z.infer<S> | undefined> {
    const answer = await this.ask(url, { headers: { accept: 'application/json' } }, signal);
    return answer.status === 200 ? read(answer, schema) : undefined;
  }

  private async ask(url: string, request: Omit<EgressRequest, 'purpose'>, signal: AbortSignal): Promise<EgressResponse> {
    try {
      return await this.egress.fetch(url, { ...request, purpose: 'tool', signal, timeoutMs: TIME_MS, maxBytes: MAX_BYTES });
    } catch (error) {
      if (error instanceof EgressError)
        throw new OAuthFailed(`The authorization server cannot be asked: ${error.message}`, { cause: error });
      if (signal.aborted) throw new OAuthFailed('The authorization server took too long to answer.', { cause: error });
      throw error;
    }
  }
}

function identityOf(
  { client_id: clientId, client_secret: clientSecret }: { client_id: string; client_secret?: string },
  { token_endpoint_auth_methods_supported: supported }: ServerMetadata,
): OAuthIdentity {
  if (!clientSecret) return { clientId, clientSecret: null, authMethod: 'none' };
  const method = AUTH_METHODS.find((one) => one !== 'none' && supported?.includes(one));
  return { clientId, clientSecret, authMethod: method ?? DEFAULT_METHOD };
}

/** @throws GrantInvalid, OAuthFailed where the answer refuses */
function accepted(answer: EgressResponse): EgressResponse {
  if (answer.status >= 200 && answer.status < 300) return answer;
  const code = Refusal.safeParse(json(answer)).data?.error;
  if (code === 'invalid_grant') throw new GrantInvalid('The authorization server does not take the grant any more.');
  throw new OAuthFailed(`The authorization server refused: ${code ?? `status ${answer.status}`}.`);
}

function read<S extends z.ZodType>(answer: EgressResponse, schema: S): z.infer<S> {
  const { success, data } = schema.safeParse(json(answer));
  if (!success) throw new OAuthFailed('The authorization server gave an answer that cannot be used.');
  return data;
}

function json({ body }: EgressResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
