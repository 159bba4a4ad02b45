import { Injectable, Module } from '@nestjs/common';
import { Departures, DeparturesModule, type Departure } from '@aps/identity';
import type { Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { ControlRepository } from './control.repository';

/** Has workers end what is done for those who are no longer there; the job is written together with their leaving. */
@Injectable()
export class MembersWhoLeft {
  constructor(
    private readonly control: ControlRepository,
    private readonly outbox: Outbox,
    departures: Departures,
  ) {
    departures.listen((tx, departure) => this.leave(tx, departure));
  }

  private async leave(tx: Tx, { userId: user_id, orgId }: Departure): Promise<void> {
    const orgIds = orgId === null ? await this.control.orgsOf(tx, user_id) : [orgId];
    for (const org_id of orgIds) await this.outbox.enqueue(tx, 'member.end_chats', { org_id, user_id });
  }
}

/** For every application in which somebody's membership can end. */
@Module({ imports: [DeparturesModule], providers: [ControlRepository, MembersWhoLeft] })
export class MemberChatsModule {}
