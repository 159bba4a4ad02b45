import { hashToken } from '@aps/platform/crypto';
import { ViewCache } from '@aps/platform/cache';
import { parseEmail } from '@aps/platform/email';
import type { Egress } from '@aps/platform/egress';
import {
  AuthorizationServers,
  identityOf,
  issuerOf,
  OAuthFailed,
  openIdMetadataUrl,
  ProviderMetadata,
  type ConsentRequest,
} from '@aps/platform/oauth';
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { domainOf, type Provider } from './oidc.config';

/** How long is believed what a provider says of itself, milliseconds. */
const BELIEVED_MS = 600_000;
/** By how much the clocks of a provider and of ours may differ, seconds. */
const CLOCKS_S = 60;
const ALGORITHMS = ['RS256', 'ES256'];
const MAX_NAME = 200;

const Claims = z.object({
  sub: z.string().regex(/^[\x20-\x7e]{1,255}$/),
  email: z.string().nullish().catch(null),
  // Some write a word. What is neither yes nor nothing is no.
  email_verified: z
    .union([z.boolean(), z.literal('true').transform(() => true)])
    .nullish()
    .catch(false),
  name: z.string().nullish().catch(null),
});
type Claims = z.infer<typeof Claims>;

/** Whom a provider has signed in. */
export interface Identity {
  issuer: string;
  subject: string;
  /** One that the provider says is theirs, or that it is believed of; null where there is none. */
  email: string | null;
  name: string | undefined;
}

/** What follows from the secret of the browser alone: who gets hold of a token for another browser has no use for it. */
const nonceOf = (verifier: string): string => hashToken(`nonce ${verifier}`).toString('base64url');

/** A client of one identity provider. What the provider says of itself, and its keys, are kept for a while. */
export class OidcClient extends AuthorizationServers {
  private readonly metadata: ViewCache<string, ProviderMetadata>;
  private readonly keys = new Map<string, JWTVerifyGetKey>();

  constructor(
    egress: Egress,
    private readonly provider: Provider,
  ) {
    super(egress, 'platform', `/api/auth/oidc/${provider.name}/callback`);
    const load = (issuer: string) => this.metadataOf(issuer, [openIdMetadataUrl(issuer)], ProviderMetadata, AbortSignal.timeout(10_000));
    this.metadata = new ViewCache(BELIEVED_MS, 1, load);
  }

  /** Where somebody signs in. @throws OAuthFailed */
  async begin(): Promise<ConsentRequest> {
    const metadata = await this.metadata.get(this.provider.issuer);
    return this.consentTo(metadata, identityOf(this.provider, metadata), {
      scopes: ['openid', 'email', 'profile'],
      more: (verifier) => ({ nonce: nonceOf(verifier) }),
    });
  }

  /**
   * Who has signed in there.
   *
   * @param back what they have come back with, and the verifier of their request
   * @throws OAuthFailed also where what the provider says cannot be trusted
   */
  async identify({ code, iss, verifier }: { code: string; iss?: string; verifier: string }, now: Date): Promise<Identity> {
    const signal = AbortSignal.timeout(15_000);
    const metadata = await this.metadata.get(this.provider.issuer);
    const asked = { issuer: issuerOf(metadata), client: identityOf(this.provider, metadata), verifier };
    const { idToken, accessToken } = await this.exchange(asked, { code, iss }, signal);
    const payload = await this.verified(idToken ?? '', metadata, now);
    if (payload.nonce !== nonceOf(verifier)) throw new OAuthFailed('The identity token is for another request.');
    if (payload.azp !== undefined && payload.azp !== this.provider.client_id)
      throw new OAuthFailed('The identity token is for another client.');
    const told = claimsOf(payload);
    // Where there is an access token, too, a provider may say the rest for that alone (OpenID Connect Core, 5.4): also that the address is not proven.
    const isSaid = (told.email && typeof told.email_verified === 'boolean') || !metadata.userinfo_endpoint;
    const more = isSaid ? told : await this.userInfo(metadata.userinfo_endpoint!, accessToken, signal);
    if (more.sub !== told.sub) throw new OAuthFailed('The identity provider speaks of somebody else.');
    const claims = more.email ? more : { ...more, email: told.email, email_verified: told.email_verified ?? more.email_verified };
    return {
      issuer: metadata.issuer,
      subject: told.sub,
      email: this.believes(claims) ? (parseEmail(claims.email ?? '')?.typed ?? null) : null,
      name: nameOf(claims.name ?? told.name),
    };
  }

  /** A provider that says no is believed, too: what the operator has said counts where it says nothing. Of addresses that are not its own nothing is. */
  private believes({ email, email_verified }: Claims): boolean {
    const { domains, trusted_domains } = this.provider;
    const domain = domainOf(email ?? '') ?? '';
    return (!domains || domains.includes(domain)) && (email_verified ?? trusted_domains.includes(domain));
  }

  private async verified(token: string, { issuer, jwks_uri }: ProviderMetadata, currentDate: Date): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, this.keysAt(jwks_uri), {
        issuer,
        audience: this.provider.client_id,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'iat', 'nonce', 'sub'],
        clockTolerance: CLOCKS_S,
        currentDate,
      });
      return payload;
    } catch (cause) {
      if (cause instanceof errors.JOSEError) throw new OAuthFailed(`The identity token cannot be trusted: ${cause.code}.`, { cause });
      throw cause;
    }
  }

  private keysAt(url: string): JWTVerifyGetKey {
    const known = this.keys.get(url);
    if (known) return known;
    const keys = createRemoteJWKSet(new URL(url), {
      cacheMaxAge: BELIEVED_MS,
      // Only the provider itself hands us tokens: a key that is not known is a new one.
      cooldownDuration: 0,
      [customFetch]: async (address, { headers, signal }) => {
        const answer = await this.ask(address, { headers: Object.fromEntries(headers) }, signal);
        if (answer.status !== 200) throw new OAuthFailed('The keys of the identity provider are not there.', { isAway: true });
        return new Response(new Uint8Array(answer.body), { status: answer.status });
      },
    });
    this.keys.set(url, keys);
    return keys;
  }

  private async userInfo(url: string, accessToken: string, signal: AbortSignal): Promise<Claims> {
    const claims = await this.document(url, Claims, signal, { authorization: `Bearer ${accessToken}` });
    if (!claims) throw new OAuthFailed('The identity provider does not say who this is.');
    return claims;
  }
}

function claimsOf(payload: JWTPayload): Claims {
  const claims = Claims.safeParse(payload);
  if (!claims.success) throw new OAuthFailed('The identity token does not say who this is.');
  return claims.data;
}

/** Without what has no place in mails and pages. */
function nameOf(told: string | null | undefined): string | undefined {
  const plain = told?.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return plain ? [...plain].slice(0, MAX_NAME).join('') : undefined;
}
