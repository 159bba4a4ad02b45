import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DomainError, refuseValue } from '@aps/contracts';
import { Inbox, InboxChannel, type ChannelKind } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { receivesMail } from '@aps/orgs';
import { Audit } from '@aps/platform/audit';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import { Database, isUniqueViolation, OrgTable, type Tx } from '@aps/platform/database';
import { parseEmail } from '@aps/platform/email';
import { uuidv7 } from 'uuidv7';
import { localPartOf, newCode, publicOf } from './addresses.policy';
import { changedConfig, type ConfigChange } from './channel-config.policy';
import { ChannelsQueries, signaturePlace, tokenPlace, type ChannelView } from './channels.queries';

/** Of an inbox. */
export const MAX_CHANNELS = 20;
const CODE_TRIES = 20;

export interface NewChannel {
  kind: ChannelKind;
  config?: ConfigChange;
  has_code?: boolean;
}
export type ChannelChange = Partial<Omit<NewChannel, 'kind'>> & { enabled?: boolean };

/** What a webhook's URL ends with is looked up by. */
export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');

const addressTaken = () => new DomainError('address_taken', 'Another channel has this address.');

/** The ways into an inbox. */
@Injectable()
export class ChannelsService {
  private readonly inboxes = new OrgTable(Inbox);
  private readonly channels = new OrgTable(InboxChannel, 'Channel');

  constructor(
    private readonly db: Database,
    private readonly queries: ChannelsQueries,
    private readonly crypto: EnvelopeCrypto,
    private readonly audit: Audit,
  ) {}

  /** In the order in which they were made. @throws DomainError `not_found` */
  async list(scope: OrgScope, inboxId: string): Promise<ChannelView[]> {
    await this.inboxes.get(this.db, scope, inboxId);
    return this.queries.of(scope, [inboxId]);
  }

  /** @throws DomainError `not_found`; 409 `address_taken`, `limit_reached`; 422 `validation_error`, `masked_secret` */
  create(scope: OrgScope, inboxId: string, input: NewChannel): Promise<ChannelView> {
    return this.db.transaction(scope, async (tx) => {
      const inbox = await this.inboxes.get(tx, scope, inboxId, 'for no key update');
      const limit = MAX_CHANNELS;
      if ((await this.channels.count(tx, scope, { inbox_id: inboxId })) >= limit)
        throw new DomainError('limit_reached', `An inbox has at most ${limit} channels.`, { context: { limit } });
      const id = await this.add(tx, scope, inbox, input);
      return this.queries.get(scope, inboxId, id, tx);
    });
  }

  /** The same for an inbox that the transaction has locked or made. @returns the channel's id */
  async add(tx: Tx, scope: OrgScope, inbox: Inbox, { kind, config: given = {}, has_code }: NewChannel): Promise<string> {
    if (kind === 'webhook' && has_code !== undefined) throw refuseValue(['body', 'has_code'], 'Only the addresses of mail have codes');
    const { config, secret } = changedConfig(kind, {}, given, false);
    const id = uuidv7();
    const common = { id, inbox_id: inbox.id, kind, signature_secret_sealed: await this.sealed(tx, scope, id, secret ?? null) };
    if (kind === 'webhook') await this.channels.insert(tx, scope, { ...common, config, ...(await this.newToken(tx, scope, id)) });
    else await this.addAddress(tx, scope, inbox, { ...common, config }, publicOf(given, has_code));
    await this.audit.record(tx, scope, 'inbox_channel.created', id, { inbox_id: inbox.id, kind });
    return id;
  }

  /** Of an address that was not asked for expressly, one with a code takes the place where it is taken. */
  private async addAddress(
    tx: Tx,
    scope: OrgScope,
    inbox: Inbox,
    columns: Pick<InboxChannel, 'id' | 'inbox_id' | 'kind' | 'config'>,
    asked: boolean | undefined,
  ): Promise<void> {
    await receivesMail(tx, scope);
    for (let i = 0; i < CODE_TRIES; i++) {
      const code = newCode();
      const isPublic = asked ?? i === 0;
      const config = { ...columns.config, public: isPublic };
      const local_part = await this.localPart(tx, scope, inbox, isPublic ? null : code);
      if (await this.channels.insertOrNothing(tx, scope, { ...columns, config, code, local_part })) return;
      if (asked === true) throw addressTaken();
    }
    throw addressTaken();
  }

  /** @throws DomainError 422 `validation_error` where mail could not go to the address: slugs may be longer than its parts */
  private async localPart(tx: Tx, scope: OrgScope, { slug }: Inbox, code: string | null): Promise<string> {
    const localPart = localPartOf(slug, code);
    const address = `${localPart}@${await this.queries.domain(scope, tx)}`;
    if (!parseEmail(address))
      throw refuseValue(
        ['body'],
        `Mail cannot go to ${address}: at most 64 characters may stand before the @, and 63 in the organization's slug`,
      );
    return localPart;
  }

  /** @throws as of {@link create} */
  update(scope: OrgScope, inboxId: string, id: string, { config: change = {}, enabled, has_code }: ChannelChange): Promise<ChannelView> {
    return this.db.transaction(scope, async (tx) => {
      const inbox = await this.inboxes.get(tx, scope, inboxId, 'for no key update');
      const before = await this.channels.get(tx, scope, { id, inbox_id: inboxId });
      if (before.kind === 'webhook' && has_code !== undefined)
        throw refuseValue(['body', 'has_code'], 'Only the addresses of mail have codes');
      const { config, secret } = changedConfig(before.kind, before.config, change, before.signature_secret_sealed !== null);
      const columns: Partial<InboxChannel> = { config, enabled };
      if (before.kind === 'email') {
        config.public = publicOf(change, has_code) ?? before.config.public;
        if (config.public !== before.config.public)
          columns.local_part = await this.localPart(tx, scope, inbox, config.public ? null : before.code);
      }
      if (secret !== undefined) columns.signature_secret_sealed = await this.sealed(tx, scope, id, secret);
      await this.channels.update(tx, scope, id, columns).catch((error: unknown) => {
        throw isUniqueViolation(error, 'inbox_channels_address') ? addressTaken() : error;
      });
      await this.audit.record(tx, scope, 'inbox_channel.updated', id, {
        inbox_id: inboxId,
        fields: fieldsOf({ ...change, enabled, has_code }),
      });
      return this.queries.get(scope, inboxId, id, tx);
    });
  }

  /** For good: its address or URL is known no more. What came by it stays. @throws DomainError `not_found` */
  async delete(scope: OrgScope, inboxId: string, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      await this.inboxes.get(tx, scope, inboxId);
      const gone = await this.channels.remove(tx, scope, { id, inbox_id: inboxId });
      await this.audit.record(tx, scope, 'inbox_channel.deleted', id, { inbox_id: inboxId, kind: gone.kind });
    });
  }

  /** Gives a webhook another URL; what comes to the one before is answered with 404 from the commit on. @throws DomainError `not_found`; 422 `not_a_webhook` */
  rotate(scope: OrgScope, inboxId: string, id: string): Promise<ChannelView> {
    return this.db.transaction(scope, async (tx) => {
      await this.inboxes.get(tx, scope, inboxId);
      const { kind } = await this.channels.get(tx, scope, { id, inbox_id: inboxId }, 'for update');
      if (kind !== 'webhook') throw new DomainError('not_a_webhook', 'Only the URL of a webhook is rotated.');
      await this.channels.update(tx, scope, id, await this.newToken(tx, scope, id));
      await this.audit.record(tx, scope, 'inbox_channel.rotated', id, { inbox_id: inboxId });
      return this.queries.get(scope, inboxId, id, tx);
    });
  }

  /** With its inbox: they take nothing any more, and their addresses are free. */
  async disableAll(tx: Tx, scope: OrgScope, inboxId: string): Promise<void> {
    const rows = await this.channels.list(tx, scope, { inbox_id: inboxId }, {});
    for (const { id } of rows) await this.channels.update(tx, scope, id, { enabled: false, local_part: null });
  }

  private async newToken(tx: Tx, scope: OrgScope, id: string): Promise<Pick<InboxChannel, 'token_hash' | 'token_sealed'>> {
    const token = randomBytes(32).toString('base64url');
    return { token_hash: hashOfToken(token), token_sealed: await this.crypto.encrypt(tx, tokenPlace(scope.orgId, id), token) };
  }

  private async sealed(tx: Tx, scope: OrgScope, id: string, secret: string | null): Promise<string | null> {
    return secret === null ? null : this.crypto.encrypt(tx, signaturePlace(scope.orgId, id), secret);
  }
}

/** Names of what was sent, and nothing of what it says. */
const fieldsOf = (sent: Record<string, unknown>): string[] =>
  Object.keys(sent).filter((key) => sent[key] !== undefined && key.length <= 64);
