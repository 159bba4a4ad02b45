import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';
import { z } from 'zod';
import { requireInternalTokenSecrets } from './crypto.config';

/** Long enough for a hop and its retries, too short to be worth stealing. */
export const INTERNAL_TOKEN_TTL_S = 60;

const claimsSchema = z.object({
  user_id: z.string(),
  email: z.string(),
  /** Session or API token that the caller came with. */
  credential_id: z.string(),
  /** Space-separated, as the credential's. */
  scope: z.string(),
  request_id: z.string(),
  /** The service that may read it. */
  aud: z.string(),
  /** Seconds since 1970. */
  exp: z.number(),
});

export type InternalClaims = z.infer<typeof claimsSchema>;

/**
 * What the gateway tells a service behind it about the caller, signed: `<base64url of JSON claims>.<base64url of HMAC-SHA256>`.
 */
@Injectable()
export class InternalTokens {
  private readonly secrets = requireInternalTokenSecrets();

  /** @param now the database's time, which signer and reader share; their own clocks may be minutes apart */
  sign(claims: Omit<InternalClaims, 'exp'>, now: Date): string {
    const body = Buffer.from(JSON.stringify({ ...claims, exp: Math.floor(now.getTime() / 1000) + INTERNAL_TOKEN_TTL_S })).toString(
      'base64url',
    );
    return `${body}.${mac(this.secrets[0], body)}`;
  }

  /** @returns the claims, or undefined when the token is forged, over, or meant for another service */
  verify(token: string, audience: string, now: Date): InternalClaims | undefined {
    const [body, signature, ...rest] = token.split('.');
    if (!body || !signature || rest.length) return undefined;
    const given = Buffer.from(signature);
    let authentic = false;
    for (const secret of this.secrets) {
      const expected = Buffer.from(mac(secret, body));
      if (given.length === expected.length && timingSafeEqual(given, expected)) authentic = true;
    }
    if (!authentic) return undefined;
    const claims = claimsSchema.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
    if (!claims.success || claims.data.aud !== audience || claims.data.exp <= now.getTime() / 1000) return undefined;
    return claims.data;
  }
}

// The label keeps signatures of this kind apart from any other use of the same secret.
const mac = (secret: string, body: string) => createHmac('sha256', secret).update(`internal-token.${body}`).digest('base64url');

/** Imported by the gateway and by the services that take its word. */
@Module({ providers: [InternalTokens], exports: [InternalTokens] })
export class InternalTokenModule {}
