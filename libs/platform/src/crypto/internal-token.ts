import { createHmac } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';
import { z } from 'zod';
import { requireInternalTokenSecrets } from './crypto.config';
import { isSame } from './same';

/** Long enough for a hop and its retries, too short to be worth stealing. */
export const INTERNAL_TOKEN_TTL_S = 60;

/** Claims until a time, signed: `<base64url of JSON claims>.<base64url of HMAC-SHA256>`. */
class SignedClaims<T extends object> {
  private readonly secrets = requireInternalTokenSecrets();
  private readonly expiring = z.object({ exp: z.number() });

  /** @param label keeps signatures of this kind apart from any other use of the same secrets */
  constructor(
    private readonly label: string,
    private readonly schema: z.ZodType<T>,
    private readonly ttlS: number,
  ) {}

  /** @param now the database's time, which signer and reader share; their own clocks may be minutes apart */
  sign(claims: T, now: Date): string {
    const exp = Math.floor(now.getTime() / 1000) + this.ttlS;
    const body = Buffer.from(JSON.stringify({ ...claims, exp })).toString('base64url');
    return `${body}.${this.mac(this.secrets[0], body)}`;
  }

  /** @returns the claims, or undefined when the token is forged or over */
  verify(token: string, now: Date): T | undefined {
    const [body, signature, ...rest] = token.split('.');
    if (!body || !signature || rest.length) return undefined;
    let authentic = false;
    for (const secret of this.secrets) authentic = isSame(this.mac(secret, body), signature) || authentic;
    if (!authentic) return undefined;
    const written: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    const [claims, until] = [this.schema.safeParse(written), this.expiring.safeParse(written)];
    return claims.success && until.success && until.data.exp > now.getTime() / 1000 ? claims.data : undefined;
  }

  private mac(secret: string, body: string): string {
    return createHmac('sha256', secret).update(`${this.label}.${body}`).digest('base64url');
  }
}

const internalClaims = z.object({
  user_id: z.string(),
  email: z.string(),
  /** Session or API token that the caller came with. */
  credential_id: z.string(),
  /** Space-separated, as the credential's. */
  scope: z.string(),
  request_id: z.string(),
  /** The service that may read it. */
  aud: z.string(),
});

export type InternalClaims = z.infer<typeof internalClaims>;

/** What the gateway tells a service behind it about the caller. */
@Injectable()
export class InternalTokens {
  private readonly claims = new SignedClaims('internal-token', internalClaims, INTERNAL_TOKEN_TTL_S);

  sign(claims: InternalClaims, now: Date): string {
    return this.claims.sign(claims, now);
  }

  /** @returns the claims, or undefined when the token is forged, over, or meant for another service */
  verify(token: string, audience: string, now: Date): InternalClaims | undefined {
    const claims = this.claims.verify(token, now);
    return claims?.aud === audience ? claims : undefined;
  }
}

/** How long a browser shows the page of queues before its operator has to ask anew. */
export const QUEUE_PAGE_TTL_S = 1_800;

const queuePageClaims = z.object({ via: z.enum(['session', 'api_token']), id: z.string() });

/** Names the credential with which an operator has asked for the page of queues; it is good for what that one is still good for. */
@Injectable()
export class QueuePageTokens extends SignedClaims<z.infer<typeof queuePageClaims>> {
  constructor() {
    super('queue-page', queuePageClaims, QUEUE_PAGE_TTL_S);
  }
}

/** Imported by the gateway and by the services that take its word. */
@Module({ providers: [InternalTokens, QueuePageTokens], exports: [InternalTokens, QueuePageTokens] })
export class InternalTokenModule {}
