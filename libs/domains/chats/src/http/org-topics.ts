import { BeforeApplicationShutdown, Injectable, OnModuleInit } from '@nestjs/common';
import { AccountStampsQueries, type AccountStamps } from '@aps/billing';
import { orgTopic, type TopicNotice } from '@aps/contracts';
import { TopicSources, type OrgScope, type TopicQuestion, type TopicSource } from '@aps/guards';
import { EventLog, RealtimeHub, type Snapshot } from '@aps/platform/realtime';
import { repeatedly } from '@aps/platform/runtime';

/** So late a change of credits is told at most, and so often. */
const LOOK_MS = 1_000;

/**
 * The organization as a topic: `org`. Its stream tells the caller's role, that the service is there, when the caller is out, and, without
 * numbers, that credits or the subscription have changed. Its log tells what becomes of the sources of knowledge bases.
 */
@Injectable()
export class OrgTopics implements TopicSource, OnModuleInit, BeforeApplicationShutdown {
  readonly kind = 'org';
  readonly area = null;

  /** What was last known of organizations that are followed here, by id. */
  private readonly known = new Map<string, AccountStamps>();
  private stop: (() => Promise<void>) | undefined;

  constructor(
    sources: TopicSources,
    private readonly eventLog: EventLog,
    private readonly hub: RealtimeHub,
    private readonly accounts: AccountStampsQueries,
  ) {
    sources.register(this);
  }

  onModuleInit(): void {
    // While the database is away nothing changes there.
    this.stop = repeatedly(LOOK_MS, () => this.look());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop?.();
  }

  async snapshots({ orgId, role }: OrgScope): Promise<Snapshot[]> {
    const topic = orgTopic(orgId);
    const [newest, [account]] = await Promise.all([this.eventLog.newestOf([topic]), this.accounts.of([orgId])]);
    // From here on its reader is told; others are told of what has changed since they asked.
    if (!this.known.has(orgId)) this.known.set(orgId, account);
    const newestId = newest.get(topic) ?? 0;
    return [{ data: { role, last_id: String(newestId) }, newestId }];
  }

  /** Membership is asked for every stream, and is all that it takes. */
  visibleAmong(questions: TopicQuestion[]): Promise<boolean[]> {
    return Promise.resolve(questions.map(() => true));
  }

  private async look(): Promise<void> {
    const followed = new Set(this.hub.listenedTo(orgTopic('')));
    for (const id of this.known.keys()) if (!followed.has(orgTopic(id))) this.known.delete(id);
    if (!this.known.size) return;
    const at = this.eventLog.now().toISOString();
    for (const account of await this.accounts.of([...this.known.keys()])) {
      const before = this.known.get(account.org_id)!;
      this.known.set(account.org_id, account);
      const notices: TopicNotice['notice'][] = [];
      if (account.credits !== before.credits) notices.push('credits_updated');
      if (account.subscription !== before.subscription) notices.push('billing_updated');
      if (notices.length)
        this.hub.tell(
          orgTopic(account.org_id),
          notices.map((notice) => ({ notice, at, data: {} })),
        );
    }
  }
}
