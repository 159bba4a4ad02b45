import { urlOf } from '@aps/platform/egress';
import { z } from 'zod';

/** An address that people or we are sent to. */
const address = z.string().refine(isWebAddress);
const names = z.array(z.string()).nullish();

/** What a protected resource says of itself (RFC 9728). */
export const ResourceMetadata = z.object({
  resource: address,
  authorization_servers: z.array(address).nullish(),
  scopes_supported: names,
});
export type ResourceMetadata = z.infer<typeof ResourceMetadata>;

/** What an authorization server says of itself (RFC 8414; OpenID Connect Discovery). */
export const ServerMetadata = z.object({
  issuer: address,
  authorization_endpoint: address,
  token_endpoint: address,
  registration_endpoint: address.nullish(),
  revocation_endpoint: address.nullish(),
  code_challenge_methods_supported: names,
  token_endpoint_auth_methods_supported: names,
  scopes_supported: names,
  authorization_response_iss_parameter_supported: z.boolean().nullish(),
});
export type ServerMetadata = z.infer<typeof ServerMetadata>;

/** What an OpenID provider says of itself besides. */
export const ProviderMetadata = ServerMetadata.extend({ jwks_uri: address, userinfo_endpoint: address.nullish() });
export type ProviderMetadata = z.infer<typeof ProviderMetadata>;

export const Registration = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().nullish(),
  token_endpoint_auth_method: z.string().nullish(),
});

/** A token that can stand in a header. */
const token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);

export const TokenAnswer = z.object({
  access_token: token,
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().nullish().catch(null),
  refresh_token: token.nullish(),
  id_token: token.nullish(),
  scope: z.string().nullish(),
});

/** Of an answer that refuses (RFC 6749, 5.2). Its words may hold what was sent, so only its code is read. */
export const Refusal = z.object({ error: z.string().regex(/^[a-z_]{1,64}$/) });

/** http or https, and nothing that a browser would run. */
export function isWebAddress(url: string): boolean {
  return ['http:', 'https:'].includes(urlOf(url)?.protocol ?? '');
}

/** Where the metadata of a resource may be, the likeliest first. */
export function resourceMetadataUrls(resource: URL): string[] {
  return wellKnown(resource, 'oauth-protected-resource', 'before').concat(
    resource.pathname === '/' ? [] : `${resource.origin}/.well-known/oauth-protected-resource`,
  );
}

/** Where an OpenID provider says how it is asked. */
export const openIdMetadataUrl = (issuer: string): string => wellKnown(new URL(issuer), 'openid-configuration', 'behind')[0];

/** Where the metadata of an issuer may be, the likeliest first. */
export function serverMetadataUrls(issuer: URL): string[] {
  return [
    ...wellKnown(issuer, 'oauth-authorization-server', 'before'),
    ...wellKnown(issuer, 'openid-configuration', 'before'),
    ...(issuer.pathname === '/' ? [] : wellKnown(issuer, 'openid-configuration', 'behind')),
  ];
}

function wellKnown({ origin, pathname }: URL, name: string, where: 'before' | 'behind'): string[] {
  const path = pathname.replace(/\/$/, '');
  return [where === 'before' ? `${origin}/.well-known/${name}${path}` : `${origin}${path}/.well-known/${name}`];
}

/** Issuers are compared letter by letter, but for the slash that ends one: their own documents disagree about that one. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

/** Whether a server is part of what its metadata names: the same origin, and the same path or one below it. */
export function isPartOf(server: URL, resource: URL): boolean {
  const folder = (path: string) => (path.endsWith('/') ? path : `${path}/`);
  return server.origin === resource.origin && folder(server.pathname).startsWith(folder(resource.pathname));
}

/** A parameter of a `WWW-Authenticate: Bearer` challenge. */
export function challengeParameter(challenge: string, name: 'resource_metadata' | 'scope'): string | undefined {
  const [, quoted, bare] = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,"]+))`, 'i').exec(challenge) ?? [];
  return quoted ?? bare;
}
