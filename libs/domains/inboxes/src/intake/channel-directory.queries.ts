import { Injectable } from '@nestjs/common';
import type { InboxChannel } from '@aps/entities';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import { batchStatement, Database, statement } from '@aps/platform/database';
import { placeOf } from '../channels/addresses.policy';
import { signaturePlace } from '../channels/channels.queries';
import { hashOfToken } from '../channels/channels.service';
import { ChannelDirectory, type Channel } from './intake.port';

type Row = Pick<InboxChannel, 'id' | 'org_id' | 'inbox_id' | 'kind' | 'config' | 'signature_secret_sealed'>;

const OPEN = `
  SELECT c.id, c.org_id, c.inbox_id, c.kind, c.config, c.signature_secret_sealed
  FROM inbox_channels c JOIN inboxes i ON i.id = c.inbox_id JOIN organizations o ON o.id = c.org_id
  WHERE c.enabled AND i.deleted_at IS NULL AND i.status <> 'disabled' AND o.deleted_at IS NULL`;
/** Many deliveries of one channel come at once, so each asks by a number of its own. */
const BY_TOKEN = batchStatement<{ n: string; token_hash: string }>(
  'inbox_channel',
  ({ n }) => n,
  () => `
  SELECT x.n AS batch_key, row_to_json(k) AS answer FROM jsonb_to_recordset($1::jsonb) AS x(n text, token_hash text)
  CROSS JOIN LATERAL (${OPEN} AND c.token_hash = x.token_hash LIMIT 1) k`,
);
const BY_ADDRESS = statement<Row>(`${OPEN} AND o.slug = $1 AND c.local_part = $2`);

/** Channels as their senders name them. */
@Injectable()
export class StoredChannels extends ChannelDirectory {
  private asked = 0;

  constructor(
    private readonly db: Database,
    private readonly crypto: EnvelopeCrypto,
  ) {
    super();
  }

  async byToken(token: string): Promise<Channel | null> {
    const row = await this.db.batched<{ n: string; token_hash: string }, Row>(BY_TOKEN, {
      n: `${++this.asked}`,
      token_hash: hashOfToken(token),
    });
    return row ? this.open(row, null) : null;
  }

  async byAddress(address: string): Promise<Channel | null> {
    const place = placeOf(address);
    const [row] = place ? await this.db.query(BY_ADDRESS, [place.orgSlug, place.localPart]) : [];
    return row ? this.open(row, address) : null;
  }

  private async open(
    { id, org_id, inbox_id, kind, config, signature_secret_sealed: sealed }: Row,
    recipient: string | null,
  ): Promise<Channel> {
    return {
      org_id,
      inbox_id,
      channel_id: id,
      channel_kind: kind,
      recipient,
      config,
      signature_secret: sealed && (await this.crypto.decrypt(this.db, signaturePlace(org_id, id), sealed)),
    };
  }
}
