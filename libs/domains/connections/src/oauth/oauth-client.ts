import { Injectable } from '@nestjs/common';
import { Egress } from '@aps/platform/egress';
import {
  accepted,
  AUTH_METHODS,
  AuthorizationServers,
  challengeParameter,
  DEFAULT_METHOD,
  identityOf,
  isPartOf,
  OAuthFailed,
  read,
  Registration,
  ResourceMetadata,
  resourceMetadataUrls,
  ServerMetadata,
  serverMetadataUrls,
  type ConsentRequest,
  type OAuthIdentity,
} from '@aps/platform/oauth';

/** Where people come back to, and where cookies of consents go. */
export const CALLBACK = '/api/oauth/callback';

/**
 * A client of the authorization servers that tool servers name. Every address is a choice of a tenant, or of a server that one has chosen, and
 * guarded so.
 */
@Injectable()
export class OAuthClient extends AuthorizationServers {
  constructor(egress: Egress) {
    super(egress, 'tool', CALLBACK);
  }

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
    const issuer = resource?.authorization_servers?.[0] ?? server.origin;
    const metadata = await this.metadataOf(issuer, serverMetadataUrls(new URL(issuer)), ServerMetadata, signal);
    if (!metadata.code_challenge_methods_supported?.includes('S256'))
      throw new OAuthFailed('The authorization server does not support PKCE with S256.');
    const client = credentials ? identityOf(credentials, metadata) : await this.register(metadata, signal);
    server.hash = '';
    // It goes into the address that people are sent to, and a query may hold a secret.
    server.search = '';
    const scopes = new Set(challengeParameter(said, 'scope')?.split(' ') ?? resource?.scopes_supported);
    // Without it some servers give no token to refresh by.
    if (metadata.scopes_supported?.includes('offline_access')) scopes.add('offline_access');
    return this.consentTo(metadata, client, {
      resource: resource?.resource ?? server.href,
      scopes,
      // OpenID Connect gives offline access only where somebody was asked.
      ...(scopes.has('offline_access') && { more: () => ({ prompt: 'consent' }) }),
    });
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

  private async register(metadata: ServerMetadata, signal: AbortSignal): Promise<OAuthIdentity> {
    if (!metadata.registration_endpoint)
      throw new OAuthFailed('The authorization server registers no clients; a client has to be made there, and its client_id given.');
    const supported = metadata.token_endpoint_auth_methods_supported ?? [DEFAULT_METHOD];
    const wish = {
      client_name: 'Agent Platform',
      redirect_uris: [this.redirectUri],
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
}
