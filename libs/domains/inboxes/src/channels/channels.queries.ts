import { Injectable } from '@nestjs/common';
import type { InboxChannel } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { EnvelopeCrypto, mask, type SecretPlace } from '@aps/platform/crypto';
import { Database, OrgListing, statement, type Db } from '@aps/platform/database';
import { mailConfig } from '@aps/platform/mail';
import { domainOf } from './addresses.policy';
import { inboundConfig } from './inbound.config';

/** A channel as it is shown: without what opens it, but to administrators. */
export interface ChannelView extends Omit<InboxChannel, 'config'> {
  config: Record<string, unknown>;
  has_code: boolean | null;
  address: string | null;
  address_token: string | null;
  webhook_url: string | null;
}

type Row = InboxChannel & { org_slug: string };

const CHANNELS = new OrgListing<Row, { inbox_id?: string; inbox_ids?: string[] }>({
  key: 'c.id',
  org: 'c.org_id',
  select: 'c.*, o.slug AS org_slug',
  from: 'inbox_channels c JOIN organizations o ON o.id = c.org_id',
  where: { inbox_id: 'c.inbox_id = $', inbox_ids: 'c.inbox_id = ANY ($)' },
  order: 'c.created_at, c.id',
  what: 'Channel',
});

const ORG_SLUG = statement<{ slug: string }>('SELECT slug FROM organizations WHERE id = $1');

/** Where what opens a channel is stored. */
export const tokenPlace = (orgId: string, id: string): SecretPlace => ({
  orgId,
  table: 'inbox_channels',
  column: 'token_sealed',
  rowId: id,
});
export const signaturePlace = (orgId: string, id: string): SecretPlace => ({
  orgId,
  table: 'inbox_channels',
  column: 'signature_secret_sealed',
  rowId: id,
});

/** Reads channels of inboxes. */
@Injectable()
export class ChannelsQueries {
  constructor(
    private readonly db: Database,
    private readonly crypto: EnvelopeCrypto,
  ) {}

  /** Those of some inboxes, in the order in which they were made. */
  async of(scope: OrgScope, inboxIds: string[], db: Db = this.db): Promise<ChannelView[]> {
    const rows = await CHANNELS.list(db, scope, { inbox_ids: inboxIds });
    const shown: ChannelView[] = [];
    for (const row of rows) shown.push(await this.shown(db, scope, row));
    return shown;
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, inboxId: string, id: string, db: Db = this.db): Promise<ChannelView> {
    return this.shown(db, scope, await CHANNELS.get(db, scope, id, { inbox_id: inboxId }));
  }

  /** What the addresses of an organization's channels end with. */
  async domain(scope: OrgScope, db: Db): Promise<string> {
    return domainOf((await db.query(ORG_SLUG, [scope.orgId]))[0].slug);
  }

  private async shown(db: Db, scope: OrgScope, { org_slug, config, ...row }: Row): Promise<ChannelView> {
    const { id, org_id } = row;
    const secret = row.signature_secret_sealed && (await this.crypto.decrypt(db, signaturePlace(org_id, id), row.signature_secret_sealed));
    const token = row.token_sealed && scope.isAdmin ? await this.crypto.decrypt(db, tokenPlace(org_id, id), row.token_sealed) : null;
    return {
      ...row,
      config: { ...config, ...(secret && { signature: { ...config.signature, secret: mask(secret) } }) },
      has_code: row.kind === 'email' ? !config.public : null,
      address: row.local_part && `${row.local_part}@${domainOf(org_slug)}`,
      address_token: row.kind === 'email' ? row.code : token,
      webhook_url: token && `${inboundConfig.value.hooksUrl ?? mailConfig.value.appUrl}/api/hooks/in/${token}`,
    };
  }
}
