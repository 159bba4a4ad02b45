import type { InboxEnvelope, InboxMessage } from '@aps/entities';
import type { MessageFacts } from '../rules/message-facts';

/** What rules see of a message as it is kept. It has no tags yet. */
export const factsOf = (
  message: Pick<InboxMessage, 'channel_kind' | 'sender_address' | 'sender_name' | 'recipient' | 'subject' | 'size_bytes'>,
  envelope: Pick<InboxEnvelope, 'body_text' | 'attachments' | 'headers' | 'payload' | 'auth'>,
): MessageFacts => ({
  channel: message.channel_kind,
  sender: message.sender_address === null ? null : { address: message.sender_address, name: message.sender_name },
  recipient: message.recipient,
  subject: message.subject,
  body_text: envelope.body_text,
  attachments: envelope.attachments,
  headers: envelope.headers,
  payload: envelope.payload,
  auth: envelope.auth,
  size_bytes: message.size_bytes,
  tags: [],
});
