import {
  InboxClassifierAnswer,
  InboxMessageCounts,
  InboxMessageDetailResponse,
  type InboxMessageDiagnosisResponse,
  InboxMessageEnvelope,
  InboxMessageIndexResponse,
  InboxMessageReply,
  InboxTraceRow,
  TimelineCost,
} from '@aps/dtos';
import type { TraceRow } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { MessageDiagnosis } from '../messages/diagnosis.queries';
import { evaluationStateOf } from '../messages/messages.policy';
import type { MessageCounts, MessageDetail, MessageView } from '../messages/messages.queries';

const NO_REPLY: InboxMessageReply = { state: 'none', due_at: null, sent_at: null };
const NO_ENVELOPE = { headers: {}, body_text: '', payload: null, attachments: [], auth: null };

/** What is computed of a message. */
const computed = ({ channel_id, channel_kind, sender_address, sender_name, state, reply }: MessageView) => ({
  channel: { id: channel_id, kind: channel_kind },
  sender: sender_address === null ? null : { address: sender_address, name: sender_name },
  evaluation_state: evaluationStateOf(state),
  reply: reply ? answer(InboxMessageReply, reply) : NO_REPLY,
});

export const toMessage = (message: MessageView): InboxMessageIndexResponse => answer(InboxMessageIndexResponse, message, computed(message));

/** @param hideDollars the organization pays in credits */
export const toMessageDetail = (message: MessageDetail, hideDollars: boolean): InboxMessageDetailResponse =>
  answer(InboxMessageDetailResponse, message, {
    ...computed(message),
    envelope: answer(InboxMessageEnvelope, message.envelope ?? NO_ENVELOPE),
    trace: message.trace.map((row, i) => toTraceRow(row, i + 1, hideDollars)),
  });

const toTraceRow = ({ classifier = null, ...row }: TraceRow, seq: number, hideDollars: boolean): InboxTraceRow =>
  answer(InboxTraceRow, row, {
    seq,
    classifier:
      classifier &&
      answer(InboxClassifierAnswer, classifier, {
        cost: answer(TimelineCost, { cost_usd: hideDollars ? null : classifier.cost_usd, credits: classifier.cost_credits }),
      }),
  });

export const toCounts = (counts: MessageCounts): InboxMessageCounts => answer(InboxMessageCounts, counts);

const iso = (date: Date | null): string | null => date && date.toISOString();

export const toMessageDiagnosis = ({ blocked_by: by, lease, ...rest }: MessageDiagnosis): InboxMessageDiagnosisResponse => ({
  ...rest,
  blocked_by: by && { ...by, since: iso(by.since), until: iso(by.until) },
  lease: lease && { ...lease, expires_at: lease.expires_at.toISOString() },
});
