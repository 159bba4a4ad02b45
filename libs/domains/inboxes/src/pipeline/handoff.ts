import { Injectable } from '@nestjs/common';
import { ChatStarts, SendService, type GivenMessage } from '@aps/chats';
import type { Dispatched, HeldFor, HoldReason, TraceRow } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { advisoryLock, type Tx } from '@aps/platform/database';
import { isObject } from '@aps/platform/definitions';
import { RunBegins } from '@aps/processes';
import type { Target } from '../rules/rule-set.schema';
import { EvaluationRepository } from './evaluation.repository';
import type { LoadedMessage } from './evaluation.sql';

/** What became of handing a message on. */
export type Handed =
  | { to: Dispatched; chat_message_id: string | null; detail: TraceRow['detail'] }
  /** Until what is over, and why, where the reason does not say that. */
  | { refused: HoldReason; until?: HeldFor };

/** So often a mail waits for earlier ones of its thread, a second at first and twice as long each time; then it begins a chat of its own. */
const MAX_BEHIND = 6;

/** An earlier mail of its thread is being evaluated, which may begin the chat that it is to join. */
export class BehindThread extends Error {
  constructor() {
    super('An earlier mail of the thread is being evaluated');
  }
}

/** Hands accepted messages to their handlers, in the transaction that says so: they are begun once, or not at all. */
@Injectable()
export class Handoff {
  constructor(
    private readonly repository: EvaluationRepository,
    private readonly chats: ChatStarts,
    private readonly sending: SendService,
    private readonly runs: RunBegins,
  ) {}

  /** @throws BehindThread; what its handler cannot be begun for */
  async toHandler(tx: Tx, m: LoadedMessage, target: Target | null): Promise<Handed> {
    if (!target) return { refused: 'handler_missing' };
    if (target.kind === 'process') return this.toProcess(tx, m, target.id);
    const scope = OrgScope.system(m.org_id, 'inbox');
    const message = said(m);
    const thread = await this.threadFor(tx, m, target);
    if (thread) {
      const joined = await this.sending.join(tx, scope, target.id, thread, message);
      if (!('refused' in joined)) return handed(joined, m, true);
      if (joined.refused === 'queue_full') return { refused: 'queue_full' };
    }
    const origin = { kind: 'inbox', ref_id: m.id } as const;
    const begun = await this.chats.start(tx, scope, { agent_id: target.id, title: m.subject, origin, sender: m.sender_address, message });
    if ('refused' in begun)
      return begun.refused === 'queue_full' ? { refused: 'queue_full' } : { refused: 'handler_missing', until: { refused: begun.refused } };
    return handed(begun, m, false);
  }

  private async toProcess(tx: Tx, m: LoadedMessage, processId: string): Promise<Handed> {
    const message = { from: m.sender_address, subject: m.subject, text: m.body_text };
    const begun = await this.runs.begin(tx, m.org_id, processId, {
      source: { kind: 'inbox', ref_id: m.id },
      input: isObject(m.payload) ? m.payload : message,
      message,
      attachments: m.attachments,
      label: m.subject,
    });
    if ('refused' in begun)
      return begun.refused === 'full'
        ? { refused: 'queue_full', until: { process_id: processId, concurrency_key: begun.key } }
        : { refused: 'handler_missing', until: { refused: begun.refused } };
    const detail = { run_id: begun.run_id, ...(m.dispatched && { before: m.dispatched }) };
    return { to: { kind: 'process', run_id: begun.run_id }, chat_message_id: null, detail };
  }

  /** The chat that a message goes on with: one of its target, in whose mails its sender took part. What is replayed begins a new one. */
  private async threadFor(tx: Tx, m: LoadedMessage, target: Target): Promise<string | null> {
    if (m.references.length === 0 || m.evaluation_cause === 'replay' || m.evaluation_cause === 'retry') return null;
    // Whoever wrote it, it is not shown to be its sender, and what a chat says may go to another address.
    if (m.auth?.dmarc === 'fail') return null;
    // Webhooks of one thread may come together, and name each other: the second joins the chat that the first begins.
    if (m.channel_kind === 'webhook') await advisoryLock(tx, `inbox-thread:${m.inbox_id}:${m.references[0]}`);
    // Asked first: what has settled until then is seen below. Mails wait for earlier ones alone, so none for each other.
    else if ((m.wait?.behind ?? 0) < MAX_BEHIND && (await this.repository.isBehind(tx, m))) throw new BehindThread();
    const thread = await this.repository.threadOf(tx, m);
    if (thread?.agent_id !== target.id) return null;
    if (m.channel_kind === 'webhook') return thread.chat_id;
    const took = m.sender_address !== null && (await this.repository.tookPart(tx, thread.chat_id, m.sender_address));
    return took ? thread.chat_id : null;
  }
}

const handed = ({ chat_id, message_id }: { chat_id: string; message_id: string }, m: LoadedMessage, joined: boolean): Handed => ({
  to: { kind: 'agent', chat_id },
  chat_message_id: message_id,
  detail: { chat_id, ...(joined && { joined }), ...(m.dispatched && { before: m.dispatched }) },
});

/** What the agent reads. */
function said(m: LoadedMessage): GivenMessage {
  const attachments = m.attachments;
  if (m.channel_kind === 'webhook') return { content: m.body_text, attachments };
  const from = m.sender_name ? `${m.sender_name} <${m.sender_address ?? ''}>` : (m.sender_address ?? '');
  return { content: `From: ${from}\nSubject: ${m.subject ?? ''}\n\n${m.body_text}`, attachments };
}
