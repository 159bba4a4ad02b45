import { Injectable } from '@nestjs/common';
import { DomainError, notFound, refuseField } from '@aps/contracts';
import { ApiToken, listTally, User } from '@aps/entities';
import { ssoRequired, type ActingUser, type Principal } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import { hashToken, newApiToken, tokenHint } from '@aps/platform/crypto';
import { Database, now, Table, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { COUNT_LIVE } from './api-tokens.sql';
import { OrganizationPort } from './organization-port';

/** Live tokens of one user. */
const MAX_LIVE = 50;
const DAY_MS = 86_400_000;

/** Its scope is checked already. */
export interface NewApiToken extends Pick<ApiToken, 'name'>, Partial<Pick<ApiToken, 'description' | 'scope' | 'org_id'>> {
  expires_in_days?: number | null;
}

/** Those that are not revoked. @param orgPin the organization that the caller's own token is pinned to; such a caller sees its kin only */
const own = (userId: string, orgPin: string | null) => ({ user_id: userId, revoked_at: null, ...(orgPin !== null && { org_id: orgPin }) });

/** A user's keys for programs. */
@Injectable()
export class ApiTokensService {
  private readonly tokens = new Table(ApiToken, 'API token', {
    from: listTally('api_tokens'),
    // The value is an id for the rows.
    where: { user_id: 't.of_id = $', 'revoked_at IS NULL': 'true', org_id: 't.facet = ($::uuid)::text' },
  });
  private readonly users = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly orgs: OrganizationPort,
    private readonly broadcaster: Broadcaster,
  ) {}

  /** Newest first, without the revoked ones. */
  list(userId: string, orgPin: string | null, page: Slice = {}): Promise<Listed<ApiToken>> {
    return this.tokens.page(this.db, own(userId, orgPin), { created_at: 'DESC', id: 'DESC' }, page);
  }

  /**
   * @param by the session that asks
   * @returns the plaintext too, for the last time
   * @throws DomainError 403 `entitlement_exceeded` with {@link MAX_LIVE} live ones; 422 `unknown_reference` for an organization that the user is no member of,
   *   403 `sso_required` for one that does not let in who has signed in by a password
   */
  create(
    actor: ActingUser,
    input: NewApiToken,
    by: Pick<Principal, 'provider'> = { provider: null },
  ): Promise<{ row: ApiToken; token: string }> {
    return this.db.transaction(actor, async (tx) => {
      // Of two who ask at once, the second counts the first's. And who replaces the password, and revokes all, comes before or after.
      await this.users.find(tx, actor.userId, 'for no key update');
      const orgId = input.org_id?.toLowerCase() ?? null;
      if (orgId) {
        const membership = (await this.orgs.membershipsOf(tx, actor.userId)).find((m) => m.org_id === orgId);
        if (!membership) throw refuseField('unknown_reference', ['org_id'], 'You are no member of this organization.');
        // The token would open what the session does not.
        if (by.provider === null && (await this.orgs.requireSso(tx, [membership]))) throw ssoRequired();
      }
      const [{ n: current }] = await tx.query(COUNT_LIVE, [actor.userId]);
      if (current >= MAX_LIVE) {
        throw new DomainError('entitlement_exceeded', `A user may have ${MAX_LIVE} API tokens. Revoke one that is not used any more.`, {
          context: { entitlement: 'max_api_tokens', limit: MAX_LIVE, current },
        });
      }
      const token = newApiToken();
      const days = input.expires_in_days ?? null;
      const row = await this.tokens.insert(tx, {
        user_id: actor.userId,
        name: input.name,
        description: input.description,
        scope: [...new Set((input.scope ?? '*').split(' '))].join(' '),
        org_id: orgId,
        token_hash: hashToken(token),
        ...tokenHint(token),
        expires_at: days === null ? null : new Date(this.db.now().getTime() + days * DAY_MS),
      });
      await this.record(tx, actor, 'api_token.created', row);
      return { row, token };
    });
  }

  /** @throws DomainError 404 `not_found`, also for another user's token */
  revoke(actor: ActingUser, orgPin: string | null, id: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      await this.users.find(tx, actor.userId, 'for no key update');
      // It may be the caller's own.
      await tx.confirm();
      const row = await this.tokens.update(tx, { ...own(actor.userId, orgPin), id }, { revoked_at: now });
      if (!row) throw notFound('Token');
      await this.record(tx, actor, 'api_token.revoked', row);
      tx.afterCommit(() => this.broadcaster.sent('access.changed', { user_id: actor.userId, org_id: null }));
    });
  }

  private async record(tx: Tx, actor: ActingUser, action: string, { id, name, scope, org_id }: ApiToken): Promise<void> {
    await this.audit.record(tx, { orgId: org_id, actor }, action, id, { name, scope });
  }
}
