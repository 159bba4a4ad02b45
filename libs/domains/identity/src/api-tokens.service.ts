import { Injectable } from '@nestjs/common';
import { DomainError, notFound, refuseField } from '@aps/contracts';
import { Audit } from '@aps/platform/audit';
import { hashToken, newApiToken, tokenHint } from '@aps/platform/crypto';
import { Database, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { ActingUser } from '@aps/guards';
import { ApiTokensRepository, type ApiTokenRow } from './api-tokens.repository';
import { OrganizationDoor } from './organization-door';
import { UsersRepository } from './users.repository';

/** Live tokens of one user. */
const MAX_LIVE = 50;

export interface NewApiToken {
  name: string;
  description?: string | null;
  /** Space-separated `<area>:read|write`, or `*`; already checked. */
  scope?: string;
  expires_in_days?: number | null;
  org_id?: string | null;
}

/** A user's keys for programs. */
@Injectable()
export class ApiTokensService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly users: UsersRepository,
    private readonly tokens: ApiTokensRepository,
    private readonly orgs: OrganizationDoor,
  ) {}

  /** Newest first, without the revoked ones. */
  list(
    userId: string,
    orgPin: string | null,
    page: { limit?: number; offset?: number } = {},
  ): Promise<{ items: ApiTokenRow[]; total: number }> {
    return this.tokens.list(this.db, userId, orgPin, page);
  }

  /**
   * @returns the plaintext too, for the last time
   * @throws DomainError 403 `entitlement_exceeded` with {@link MAX_LIVE} live ones; 422 `unknown_reference` for an organization that the user is no member of
   */
  create(actor: ActingUser, input: NewApiToken): Promise<{ row: ApiTokenRow; token: string }> {
    return this.db.transaction(actor, async (tx) => {
      // Of two who ask at once, the second counts the first's. And who replaces the password, and revokes all, comes before or after.
      await this.users.lock(tx, actor.userId);
      const orgId = input.org_id?.toLowerCase() ?? null;
      if (orgId && !(await this.orgs.membershipsOf(tx, actor.userId)).some((m) => m.org_id === orgId)) {
        throw refuseField('unknown_reference', ['org_id'], 'You are no member of this organization.');
      }
      const current = await this.tokens.countLive(tx, actor.userId);
      if (current >= MAX_LIVE) {
        throw new DomainError('entitlement_exceeded', `A user may have ${MAX_LIVE} API tokens. Revoke one that is not used any more.`, {
          context: { entitlement: 'max_api_tokens', limit: MAX_LIVE, current },
        });
      }
      const token = newApiToken();
      const row = await this.tokens.insert(
        tx,
        {
          id: uuidv7(),
          user_id: actor.userId,
          name: input.name,
          description: input.description ?? null,
          scope: [...new Set((input.scope ?? '*').split(' '))].join(' '),
          org_id: orgId,
          token_hash: hashToken(token),
          ...tokenHint(token),
        },
        input.expires_in_days ?? null,
      );
      await this.record(tx, actor, 'api_token.created', row);
      return { row, token };
    });
  }

  /** @throws DomainError 404 `not_found`, also for another user's token */
  revoke(actor: ActingUser, orgPin: string | null, id: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      await this.users.lock(tx, actor.userId);
      // It may be the caller's own.
      await tx.confirm();
      const row = await this.tokens.revoke(tx, actor.userId, orgPin, id);
      if (!row) throw notFound('Token');
      await this.record(tx, actor, 'api_token.revoked', row);
    });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, { id, name, scope, org_id }: ApiTokenRow): Promise<void> {
    await this.audit.record(tx, { orgId: org_id, actor }, action, { kind: 'api_token', id }, { name, scope });
  }
}
