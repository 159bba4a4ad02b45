import { ChatsService, type TestOrg } from '@aps/chats/testing';
import type { QueueName } from '@aps/contracts';
import { RunSweeper } from '@aps/platform/runs';
import { eventually, sql } from '@aps/platform/testing';
import type { BASE_MODULES, Settings } from '@aps/testing';
import { IntakeModule } from '../intake/intake.module';
import { ChannelDirectory, Intake, type IncomingMessage } from '../intake/intake.port';
import { MessageKind } from '../pipeline/message.kind';
import { Releases } from '../pipeline/releases';
import { AnsweringModule } from '../replies/replies.module';
import { InboxesHttpModule } from '../http';
import { InboxesJobsModule } from '../jobs';

/** An inbox with a channel of each kind, which hands on to the agent of its organization. */
export interface TestInbox {
  id: string;
  /** `/api/orgs/<id>/inboxes/<inbox>` */
  path: string;
  address: string;
  /** What the URL of its webhook ends with. */
  token: string;
}

/** What is kept of a message, as specs look at it. */
export interface MessageNow {
  id: string;
  state: string;
  verdict: string | null;
  hold_reason: string | null;
  decided_by: string | null;
  tags: string[];
  dispatched: { kind: string; chat_id: string } | null;
  previous_dispatches: { chat_id: string }[];
  passed_at: Date | null;
  terminated_at: Date | null;
  wait: { tries?: number } | null;
  trace: {
    stage_id: string;
    kind: string;
    outcome: string;
    detail: Record<string, unknown> | null;
    classifier?: { label: string | null };
  }[];
}

const NOW = sql<MessageNow>(`
  SELECT m.*, coalesce((SELECT jsonb_agg(r ORDER BY t.id, n) FROM inbox_traces t, jsonb_array_elements(t.rows) WITH ORDINALITY AS x(r, n) WHERE t.message_id = m.id), '[]') AS trace
  FROM inbox_messages m WHERE m.id = $1`);

const PLAIN: IncomingMessage = {
  sender: { address: 'ann@acme.com', name: 'Ann' },
  subject: 'An order',
  body_text: 'Ten of them, please.',
  headers: {},
  payload: null,
  auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  size_bytes: 20,
  message_id: null,
  references: [],
  participants: ['ann@acme.com'],
  dedupe_key: null,
  automatic: null,
  reply_to: 'ann@acme.com',
  files: [],
};

/** A mail as a door hands it in. */
export const plainMail = (message: Partial<IncomingMessage> = {}): IncomingMessage => ({ ...PLAIN, ...message });

/** Gateway, worker and intake in one process. */
export class InboxesService extends ChatsService {
  private made = 0;
  /** Lets go what was held for something that is over. @returns how many messages */
  releaseDue: () => Promise<number>;

  constructor(settings?: Settings, beside: typeof BASE_MODULES = [], queues: QueueName[] = []) {
    super(settings, [InboxesHttpModule, IntakeModule, InboxesJobsModule, AnsweringModule, ...beside], ['inbox-messages', ...queues]);
  }

  override async start(): Promise<this> {
    await super.start();
    const releases = this.get(Releases);
    this.releaseDue = releases.releaseDue.bind(releases);
    // The round that the process makes by itself would let go first what a spec counts.
    Object.assign(releases, { releaseDue: () => Promise.resolve(0) });
    return this;
  }

  async inbox(org: TestOrg, body: Record<string, unknown> = {}): Promise<TestInbox> {
    const path = `/api/orgs/${org.id}/inboxes`;
    const target = { target_kind: 'agent', target_id: org.agentId, channels: ['email', 'webhook'] };
    const made = await this.make('POST', path, {
      as: org.owner,
      body: { name: 'Orders', slug: `orders-${++this.made}`, ...target, ...body },
    });
    const [mail, hook] = made.channels as { address: string; address_token: string }[];
    return { id: made.id as string, path: `${path}/${made.id as string}`, address: mail?.address, token: hook?.address_token };
  }

  /** Has mail come in. @returns the message's id */
  async mail(inbox: TestInbox, message: Partial<IncomingMessage> = {}): Promise<string> {
    const channel = await this.get(ChannelDirectory).byAddress(inbox.address);
    return (await this.get(Intake).receive(channel!, plainMail(message))).message_id;
  }

  /** Has a webhook come in. @returns the message's id */
  async hook(inbox: TestInbox, message: Partial<IncomingMessage> = {}): Promise<string> {
    const channel = await this.get(ChannelDirectory).byToken(inbox.token);
    const plain = { ...PLAIN, sender: null, auth: null, reply_to: null, participants: [] };
    return (await this.get(Intake).receive(channel!, { ...plain, ...message })).message_id;
  }

  async message(id: string): Promise<MessageNow> {
    return (await this.db.query(NOW, [id]))[0];
  }

  /** Asks until the evaluation of a message has ended. */
  evaluated(id: string): Promise<MessageNow> {
    return eventually(
      () => this.message(id),
      (message) => message.state !== 'evaluating',
    );
  }

  /** Has what nobody owns any more found at once. */
  sweep(): Promise<number> {
    return this.get(RunSweeper).sweep(this.get(MessageKind));
  }

  /** Puts a rule set into force, as a deploy would leave it. */
  async rules(inbox: TestInbox, definition: Record<string, unknown>): Promise<void> {
    await this.db.execute(
      sql(`WITH a AS (UPDATE inbox_revisions SET status = 'archived' WHERE inbox_id = $1 AND status = 'deployed'), i AS (
             UPDATE inboxes SET last_version = last_version + 1, current_revision_id = gen_random_uuid() WHERE id = $1 RETURNING *)
           INSERT INTO inbox_revisions (id, org_id, inbox_id, version, status, hash, definition) SELECT current_revision_id, org_id, id, last_version, 'archived', 'x', $2 FROM i`),
      [inbox.id, JSON.stringify(definition)],
    );
    await this.db.execute(
      sql(`UPDATE inbox_revisions r SET status = 'deployed' FROM inboxes i WHERE i.id = $1 AND r.id = i.current_revision_id`),
      [inbox.id],
    );
  }
}

export function inboxesService(settings?: Settings, beside?: typeof BASE_MODULES, queues?: QueueName[]): InboxesService {
  const service = new InboxesService(settings, beside, queues);
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
}
