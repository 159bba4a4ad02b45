import { Injectable } from '@nestjs/common';
import { notFound, refuseField } from '@aps/contracts';
import { Audit } from '@aps/platform/audit';
import { hashToken, newApiToken, tokenHint } from '@aps/platform/crypto';
import { Database, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { ActingUser } from './acting-user';
import { ApiTokensRepository, type ApiTokenRow } from './api-tokens.repository';
import { OrganizationDoor } from './organization-door';

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
    private readonly tokens: ApiTokensRepository,
    private readonly orgs: OrganizationDoor,
  ) {}

  /** Newest first, without the revoked ones. */
  list(userId: string, orgPin: string | null, page: { limit?: number; offset?: number } = {}): Promise<{ items: ApiTokenRow[]; total: number }> {
    return this.tokens.list(this.db, userId, orgPin, page);
  }

  /**
   * @returns the plaintext too, for the last time
   * @throws DomainError 422 `unknown_reference` for an organization that the user is no member of
   */
  create(actor: ActingUser, input: NewApiToken): Promise<{ row: ApiTokenRow; token: string }> {
    return this.db.transaction(async (tx) => {
      const orgId = input.org_id?.toLowerCase() ?? null;
      if (orgId && !(await this.orgs.membershipsOf(tx, actor.userId)).some((m) => m.org_id === orgId)) {
        throw refuseField('unknown_reference', ['org_id'], 'You are no member of this organization.');
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
    return this.db.transaction(async (tx) => {
      const row = await this.tokens.revoke(tx, actor.userId, orgPin, id);
      if (!row) throw notFound('Token');
      await this.record(tx, actor, 'api_token.revoked', row);
    });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, { id, name, scope, org_id }: ApiTokenRow): Promise<void> {
    await this.audit.record(tx, {
      source: 'business',
      action,
      orgId: org_id,
      actorId: actor.userId,
      target: { kind: 'api_token', id },
      metadata: { name, scope },
      requestId: actor.requestId,
    });
  }
}
