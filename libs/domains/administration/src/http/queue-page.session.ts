import { Controller, Injectable, Module, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DomainError } from '@aps/contracts';
import {
  type AuthenticatedRequest,
  BearerAuthenticator,
  CurrentPrincipal,
  notAuthenticated,
  PlatformAdmin,
  PrincipalStore,
  type Principal,
} from '@aps/guards';
import { InternalTokenModule, QUEUE_PAGE_TTL_S, QueuePageTokens } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { Operation, staysBelow } from '@aps/platform/http';
import type { Response } from 'express';
import { QUEUE_PAGE } from './queue-page.path';

const COOKIE = 'aps_queues';
const IN_HEADER = new RegExp(`(?:^|; ?)${COOKIE}=([A-Za-z0-9_.-]{1,1000})(?:;|$)`);

/**
 * Reads `Authorization: Bearer …` and, for the page of queues alone, the cookie that stands in for it: a browser that loads a page sends
 * no bearer. What the cookie names is asked for anew, so it ends with its credential.
 */
@Injectable()
export class GatewayAuthenticator extends BearerAuthenticator {
  constructor(
    private readonly principals: PrincipalStore,
    private readonly tokens: QueuePageTokens,
    private readonly db: Database,
  ) {
    super(principals);
  }

  override async authenticate(request: AuthenticatedRequest, anew = false): Promise<Principal> {
    const cookie = isOfQueuePage(request) && IN_HEADER.exec(request.headers.cookie ?? '')?.[1];
    if (!cookie) return super.authenticate(request, anew);
    const credential = this.tokens.verify(cookie, this.db.now());
    if (!credential) throw notAuthenticated();
    return this.principals.byCredential(credential, anew);
  }
}

const isOfQueuePage = ({ headers, originalUrl }: AuthenticatedRequest): boolean =>
  headers.authorization === undefined && staysBelow(originalUrl, QUEUE_PAGE);

@ApiTags('Administration: workers')
@Controller(QUEUE_PAGE)
@PlatformAdmin()
export class QueuePageSessionController {
  constructor(
    private readonly tokens: QueuePageTokens,
    private readonly principals: PrincipalStore,
    private readonly db: Database,
  ) {}

  @Post('session')
  @Operation({
    summary: 'Open the page of queues for a browser',
    description: `Sets a cookie that opens \`${QUEUE_PAGE}/\` for 30 minutes, no longer than the credential lives, and nothing else.`,
  })
  async open(
    @CurrentPrincipal() { via, credentialId: id }: Principal,
    @Req() { secure, headers }: AuthenticatedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    // A service behind the gateway knows no credential, and no cookie gets another one, however the path is spelled.
    if (via === 'internal' || headers.authorization === undefined) throw notAuthenticated();
    // What is made from a credential is made from one that lives, and not from the memory of one.
    const { isPlatformAdmin } = await this.principals.byCredential({ via, id }, true);
    if (!isPlatformAdmin) throw new DomainError('platform_admin_required', 'Only platform administrators may do this.');
    response.cookie(COOKIE, this.tokens.sign({ via, id }, this.db.now()), {
      httpOnly: true,
      sameSite: 'strict',
      secure,
      path: QUEUE_PAGE,
      maxAge: QUEUE_PAGE_TTL_S * 1_000,
    });
  }
}

/** What the gateway serves of the page of queues, beside the way to it; before the paths that it proxies. */
@Module({ imports: [InternalTokenModule], controllers: [QueuePageSessionController] })
export class QueuePageSessionModule {}
