import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How it behaves; may be changed at any time. */
export interface Switches {
  /** Which methods of PKCE it announces. */
  challengeMethods: string[] | undefined;
  /** Whether it announces `iss`, and what it sends; null sends none. */
  announcesIss: boolean;
  iss: 'right' | 'wrong' | null;
  registers: boolean;
  authMethods: string[];
  /** The person says no. */
  refuses: boolean;
  /** It takes no grant. */
  invalidGrant: boolean;
  /** The status of every answer of the token endpoint, if another than it should be. */
  tokenStatus: number | undefined;
  /** The same of the endpoint that revokes. */
  revokeStatus: number | undefined;
  /** Where the token endpoint leads elsewhere to. */
  tokenRedirect: string | undefined;
  /** Refreshing gives another refresh token, and ends the old one. */
  rotates: boolean;
  /** It gives refresh tokens at all. */
  refreshable: boolean;
  /** It takes requests, and answers none. */
  silent: boolean;
  expiresIn: number;
  scopes: string[] | undefined;
  /** Whatever it should say of itself besides, or instead. */
  metadata: Record<string, unknown>;
  resourceMetadata: Record<string, unknown>;
  /** Where its metadata is. */
  place: 'oauth-authorization-server' | 'openid-configuration';
  /** What it gives beside the tokens of a code, to who was sent with this query. */
  besides: ((query: Record<string, string>) => Promise<object>) | undefined;
  /** What it has at other paths; undefined: nothing. */
  others: ((path: string, req: IncomingMessage) => object | undefined) | undefined;
}

export interface AuthorizationServer extends Switches {
  url: string;
  /** What it protects: set it to the address of a server of tools. */
  resource: string;
  /** The requests that have come, without their queries. */
  seen: { path: string; form: Record<string, string>; authorization?: string }[];
  /** Whether a request brings a token of it that is still good; else it is answered 401, with a challenge. */
  lets(req: IncomingMessage, res: ServerResponse): boolean;
  /** Goes where a person is sent, and comes back with what they bring: `code` or `error`, `state`, `iss`. */
  visit(authorizeUrl: string): Promise<Record<string, string>>;
  /** Ends all access tokens. */
  expire(): void;
  close(): Promise<void>;
}

interface Grant {
  clientId: string;
  challenge?: string;
  redirectUri?: string;
  resource?: string;
  query: Record<string, string>;
}

class Refused extends Error {
  constructor(
    readonly code: string,
    readonly status = 400,
  ) {
    super(code);
  }
}

/** An authorization server and the metadata of a resource, on a real socket. Vouch for it by `EGRESS_ALLOW`. */
export async function startAuthorizationServer(switches: Partial<Switches> = {}): Promise<AuthorizationServer> {
  const clients = new Map<string, { secret?: string; redirectUris: string[] }>([['known', { secret: 's3cret', redirectUris: [] }]]);
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  const accessTokens = new Set<string>();

  const it: AuthorizationServer = {
    challengeMethods: ['S256'],
    announcesIss: true,
    iss: 'right',
    registers: true,
    authMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    refuses: false,
    invalidGrant: false,
    tokenStatus: undefined,
    revokeStatus: undefined,
    tokenRedirect: undefined,
    rotates: true,
    refreshable: true,
    silent: false,
    expiresIn: 3_600,
    scopes: undefined,
    metadata: {},
    resourceMetadata: {},
    place: 'oauth-authorization-server',
    besides: undefined,
    others: undefined,
    ...switches,
    url: '',
    resource: '',
    seen: [],
    lets: (req, res) => {
      if (accessTokens.has(req.headers.authorization?.replace(/^Bearer /, '') ?? '')) return true;
      res.writeHead(401, { 'www-authenticate': `Bearer realm="tools", resource_metadata="${it.url}/resource"` }).end();
      return false;
    },
    visit: async (authorizeUrl) => {
      const response = await fetch(authorizeUrl, { redirect: 'manual' });
      const location = response.headers.get('location');
      if (!location) throw new Error(`The authorization server answered ${response.status}: ${await response.text()}`);
      return Object.fromEntries(new URL(location).searchParams);
    },
    expire: () => accessTokens.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  const metadata = () => ({
    issuer: it.url,
    authorization_endpoint: `${it.url}/authorize?tenant=1`,
    token_endpoint: `${it.url}/token`,
    revocation_endpoint: `${it.url}/revoke`,
    ...(it.registers && { registration_endpoint: `${it.url}/register` }),
    response_types_supported: ['code'],
    token_endpoint_auth_methods_supported: it.authMethods,
    code_challenge_methods_supported: it.challengeMethods,
    authorization_response_iss_parameter_supported: it.announcesIss,
    ...it.metadata,
  });

  /** @returns where the person is sent */
  const authorize = (query: URLSearchParams): string => {
    const {
      client_id: clientId,
      redirect_uri: redirectUri,
      state,
      resource,
      code_challenge: challenge,
      ...rest
    } = Object.fromEntries(query);
    const client = clients.get(clientId);
    if (!client) throw new Refused('invalid_client');
    if (client.redirectUris.length && !client.redirectUris.includes(redirectUri)) throw new Refused('invalid_redirect_uri');
    if (rest.response_type !== 'code' || rest.code_challenge_method !== 'S256' || !(resource || it.besides) || rest.tenant !== '1')
      throw new Refused('invalid_request');
    const back = new URL(redirectUri);
    back.searchParams.set('state', state);
    if (it.iss) back.searchParams.set('iss', it.iss === 'right' ? it.url : 'https://somebody.example');
    if (it.refuses) back.searchParams.set('error', 'access_denied');
    else {
      const code = randomUUID();
      codes.set(code, { clientId, challenge, redirectUri, resource, query: Object.fromEntries(query) });
      back.searchParams.set('code', code);
    }
    return back.href;
  };

  const tokens = async (form: Record<string, string>, clientId: string) => {
    const isRefresh = form.grant_type === 'refresh_token';
    const grants = isRefresh ? refreshTokens : codes;
    const key = isRefresh ? form.refresh_token : form.code;
    const grant = grants.get(key);
    if (it.invalidGrant || !grant || grant.clientId !== clientId) throw new Refused('invalid_grant');
    if (grant.resource !== form.resource) throw new Refused('invalid_target');
    if (!isRefresh) {
      const digest = createHash('sha256').update(form.code_verifier).digest('base64url');
      if (digest !== grant.challenge || form.redirect_uri !== grant.redirectUri) throw new Refused('invalid_grant');
    }
    if (!isRefresh || it.rotates) grants.delete(key);
    const accessToken = `at-${randomUUID()}`;
    accessTokens.add(accessToken);
    const refreshToken = `rt-${randomUUID()}`;
    if (!isRefresh || it.rotates) refreshTokens.set(refreshToken, grant);
    return {
      access_token: accessToken,
      token_type: 'bearer',
      expires_in: it.expiresIn,
      ...(it.refreshable && (!isRefresh || it.rotates) && { refresh_token: refreshToken }),
      ...(!isRefresh && (await it.besides?.(grant.query))),
    };
  };

  /** @returns the client that has proved who it is */
  const clientOf = (form: Record<string, string>, authorization = ''): string => {
    const [id, secret] = authorization.startsWith('Basic ')
      ? Buffer.from(authorization.slice(6), 'base64').toString().split(':').map(decodeURIComponent)
      : [form.client_id, form.client_secret];
    const client = clients.get(id);
    if (!client || client.secret !== secret) throw new Refused('invalid_client', 401);
    return id;
  };

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const url = new URL(req.url!, it.url);
    const raw = await text(req);
    const form = url.pathname === '/register' ? {} : Object.fromEntries(new URLSearchParams(raw));
    const { authorization } = req.headers;
    it.seen.push({ path: url.pathname, form, ...(authorization && { authorization }) });
    if (it.silent) return;
    const send = (status: number, body: object) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (url.pathname) {
      case '/resource':
        return send(200, { resource: it.resource, authorization_servers: [it.url], scopes_supported: it.scopes, ...it.resourceMetadata });
      case `/.well-known/${it.place}`:
        return send(200, metadata());
      case '/register': {
        const { redirect_uris: redirectUris, token_endpoint_auth_method: method } = JSON.parse(raw) as {
          redirect_uris: string[];
          token_endpoint_auth_method: string;
        };
        const id = randomUUID();
        const secret = method === 'none' ? undefined : `secret of ${id}`;
        clients.set(id, { secret, redirectUris });
        return send(201, { client_id: id, client_secret: secret, token_endpoint_auth_method: method });
      }
      case '/authorize':
        return void res.writeHead(302, { location: authorize(url.searchParams) }).end();
      case '/token':
        if (it.tokenRedirect) return void res.writeHead(307, { location: it.tokenRedirect }).end();
        if (it.tokenStatus) return send(it.tokenStatus, { error: 'temporarily_unavailable' });
        return send(200, await tokens(form, clientOf(form, authorization)));
      case '/revoke':
        if (it.revokeStatus) return send(it.revokeStatus, { error: 'temporarily_unavailable' });
        clientOf(form, authorization);
        accessTokens.delete(form.token);
        refreshTokens.delete(form.token);
        return send(200, {});
      default: {
        const other = it.others?.(url.pathname, req);
        return send(other ? 200 : 404, other ?? {});
      }
    }
  };

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      const { code, status } = error instanceof Refused ? error : new Refused('server_error', 500);
      res
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: code, error_description: 'words that are not shown' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  it.url = `http://localhost:${(server.address() as AddressInfo).port}`;
  it.resource = `${it.url}/mcp`;
  return it;
}
