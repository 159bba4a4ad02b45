import { DynamicModule, Global, Injectable, Module, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RequestValidationGuard } from '@aps/platform/http';
import { RateLimitGuard, RateLimitModule } from '@aps/platform/rate-limit';
import { AccessBroadcasts } from './access.broadcasts';
import { AccessGuard, Authenticator } from './access.guard';
import { OpenLists } from './open-lists';
import { notAuthenticated, PrincipalStore } from './principal.store';
import type { AuthenticatedRequest, Principal } from './principal';
import { SignInRules } from './sign-in-rules';
import { Tickets } from './tickets';
import { TopicSources } from './topic-sources';

/** Reads `Authorization: Bearer …`. */
@Injectable()
export class BearerAuthenticator extends Authenticator {
  constructor(private readonly store: PrincipalStore) {
    super();
  }

  async authenticate(request: AuthenticatedRequest, anew = false): Promise<Principal> {
    const header = request.headers.authorization;
    const match = header && /^Bearer +([A-Za-z0-9_-]{1,512})$/i.exec(header);
    if (!match) throw notAuthenticated();
    return this.store.byToken(match[1], anew);
  }
}

/** The global guards, in their order: access, with the limit of each caller, then the limits of routes, then body and query. */
@Global()
@Module({})
export class GuardsModule {
  static forRoot(authenticator: Type<Authenticator> = BearerAuthenticator): DynamicModule {
    return {
      module: GuardsModule,
      imports: [RateLimitModule],
      controllers: [AccessBroadcasts],
      providers: [
        PrincipalStore,
        SignInRules,
        Tickets,
        TopicSources,
        OpenLists,
        { provide: Authenticator, useClass: authenticator },
        { provide: APP_GUARD, useClass: AccessGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: RequestValidationGuard },
      ],
      exports: [PrincipalStore, SignInRules, Tickets, TopicSources, Authenticator],
    };
  }
}
