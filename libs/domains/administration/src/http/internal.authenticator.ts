import { Global, Injectable, Module } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Authenticator, notAuthenticated, type AuthenticatedRequest, type Principal } from '@aps/guards';
import { InternalTokenModule, InternalTokens } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { OPERATOR } from '../operator.queries';

/** Carries the gateway's signed word about the caller. Headers of this prefix never pass the gateway from outside. */
export const INTERNAL_TOKEN_HEADER = 'x-aps-internal';
/** The name under which admin-api is addressed by internal tokens. */
export const ADMIN_API_AUDIENCE = 'admin-api';

/**
 * Reads the gateway's signed token, and nothing else: a bearer token proves nothing here. Who the caller is comes from the token; what
 * they may do is looked up anew, so that a demotion or deactivation holds with the next request, whatever the gateway remembers.
 */
@Injectable()
export class InternalAuthenticator extends Authenticator {
  constructor(
    private readonly tokens: InternalTokens,
    private readonly db: Database,
  ) {
    super();
  }

  async authenticate(request: AuthenticatedRequest): Promise<Principal> {
    const token = request.headers[INTERNAL_TOKEN_HEADER];
    const claims = typeof token === 'string' ? this.tokens.verify(token, ADMIN_API_AUDIENCE, this.db.now()) : undefined;
    if (!claims) throw notAuthenticated();
    const [operator] = await this.db.query(OPERATOR, [claims.user_id]);
    if (!operator) throw notAuthenticated();
    const { deactivated, ...person } = operator;
    if (deactivated) throw new DomainError('user_deactivated', 'This user is deactivated.');
    const scopes = claims.scope === '*' ? null : new Set(claims.scope.split(' '));
    return { ...person, via: 'internal', credentialId: claims.credential_id, provider: null, scopes, orgPin: null };
  }
}

/** What {@link InternalAuthenticator} needs, for the global guards of the application that uses it. */
@Global()
@Module({ imports: [InternalTokenModule], exports: [InternalTokenModule] })
export class InternalCallerModule {}
