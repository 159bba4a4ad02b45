import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { prefixedId } from '@aps/contracts';
import { Inbox, type ChannelKind } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, changesOf, Database, OrgTable } from '@aps/platform/database';
import { ChannelsService } from './channels/channels.service';
import { Handlers } from './handlers';
import { changedSettings, targetOf, type TargetInput } from './inboxes.policy';
import { InboxesQueries, type InboxView } from './inboxes.queries';

export interface NewInbox extends TargetInput {
  name: string;
  slug: string;
  channels?: ChannelKind[];
  settings?: Record<string, unknown>;
}

/** What a caller changes of an inbox. Absent leaves it as it is, null clears a limit. */
export type InboxChange = TargetInput &
  Partial<
    Pick<
      Inbox,
      | 'name'
      | 'status'
      | 'retention_days'
      | 'rate_limit_messages_per_day'
      | 'rate_limit_classifier_calls_per_day'
      | 'rate_limit_per_sender_per_hour'
      | 'rate_limit_per_sender_per_minute'
      | 'spike_protection_enabled'
    > & { settings: Record<string, unknown> }
  >;

/** Makes, edits and deletes inboxes. */
@Injectable()
export class InboxesService {
  private readonly inboxes = new OrgTable(Inbox, 'Inbox');

  constructor(
    private readonly db: Database,
    private readonly queries: InboxesQueries,
    private readonly channels: ChannelsService,
    private readonly handlers: Handlers,
    private readonly entitlements: Entitlements,
    private readonly audit: Audit,
  ) {}

  /**
   * Makes an inbox with its channels, or nothing of it. It has no rule set: it accepts everything, and hands it to its target.
   *
   * @throws DomainError 403 `entitlement_exceeded`; 409 `slug_taken`, `address_taken`; 422 `validation_error`, `unknown_reference`
   */
  create(scope: OrgScope, { name, slug, channels = [], settings = {}, ...input }: NewInbox): Promise<InboxView> {
    const target = targetOf(input, null);
    const set = changedSettings({}, settings);
    return this.db.transaction(scope, async (tx) => {
      await advisoryLock(tx, `cap:max_inboxes:${scope.orgId}`);
      await this.entitlements.requireRoom(scope.orgId, 'max_inboxes', await this.inboxes.count(tx, scope), tx);
      if (target) await this.handlers.require(tx, scope, target);
      const inbox = await this.inboxes.insertUnder(tx, scope, [slug], {
        id: prefixedId('inb'),
        name,
        target_kind: target?.kind ?? null,
        target_id: target?.id ?? null,
        settings: set,
        created_by: scope.actor.userId,
      });
      for (const kind of channels) await this.channels.add(tx, scope, inbox, { kind });
      await this.audit.record(tx, scope, 'inbox.created', inbox.id, { slug });
      return this.queries.get(scope, inbox.id, tx);
    });
  }

  /** @throws DomainError `not_found`; 422 `validation_error`, `unknown_reference` */
  update(scope: OrgScope, id: string, { target_kind, target_id, settings, ...columns }: InboxChange): Promise<InboxView> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.inboxes.get(tx, scope, id, 'for no key update');
      const target = targetOf({ target_kind, target_id }, before);
      if (target && (target_kind !== undefined || target_id !== undefined)) await this.handlers.require(tx, scope, target);
      const changes = changesOf(before, {
        ...columns,
        target_kind: target?.kind ?? null,
        target_id: target?.id ?? null,
        settings: settings && changedSettings(before.settings, settings),
      });
      const fields = Object.keys(changes);
      if (fields.length) {
        await this.inboxes.update(tx, scope, id, changes);
        await this.audit.record(tx, scope, 'inbox.updated', id, { fields });
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /** Its channels take nothing any more, its slug and its addresses are free. What it has begun goes on. @throws DomainError `not_found` */
  async delete(scope: OrgScope, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const gone = await this.inboxes.remove(tx, scope, id);
      await this.channels.disableAll(tx, scope, id);
      await this.audit.record(tx, scope, 'inbox.deleted', id, { slug: gone.slug });
    });
  }
}
