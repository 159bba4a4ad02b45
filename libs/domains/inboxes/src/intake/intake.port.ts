import type { ChannelConfig, ChannelKind } from '@aps/entities';
import type { MessageFacts } from '../rules/message-facts';

export type { ChannelConfig } from '@aps/entities';
export type SignatureScheme = NonNullable<ChannelConfig['signature']>['scheme'];

/** Where a message goes. */
export interface Destination {
  org_id: string;
  inbox_id: string;
  channel_id: string;
  channel_kind: ChannelKind;
  /** The address that its sender wrote to, with its `+tag`; of a webhook null. */
  recipient: string | null;
}

/** A channel that takes messages. */
export interface Channel extends Destination {
  config: ChannelConfig;
  /** What its senders sign with, in the clear. */
  signature_secret: string | null;
}

/** A file that comes with a message. */
export interface IncomingPart {
  filename: string;
  content: Buffer;
}

/** A message as a door hands it in; where it came in is its destination's to say. */
export interface IncomingMessage extends Omit<MessageFacts, 'channel' | 'recipient' | 'attachments' | 'tags'> {
  /** Of mail: Message-ID without its brackets; of a webhook what names its thread. Later ones refer to it. */
  message_id: string | null;
  /** What it refers to, nearest first. */
  references: string[];
  /** Canonical addresses of who wrote it, and to whom. */
  participants: string[];
  /** What makes it a duplicate on its channel; null: nothing does. */
  dedupe_key: string | null;
  /** Why it is taken for one that no human sent, in a word; null for what humans send. */
  automatic: string | null;
  /** Whom an answer goes to; null where there is nobody. */
  reply_to: string | null;
  files: IncomingPart[];
}

/** What a door finds its channels by. Channels and inboxes that are disabled or deleted are not there. */
export abstract class ChannelDirectory {
  abstract byToken(token: string): Promise<Channel | null>;
  /** @param address canonical, without a `+tag` */
  abstract byAddress(address: string): Promise<Channel | null>;
}

/** Takes messages in. */
export abstract class Intake {
  /**
   * Stores a message with its job, once; committed when it returns.
   *
   * @throws DomainError `not_found` where its channel takes nothing any more
   */
  abstract receive(to: Destination, message: IncomingMessage): Promise<{ message_id: string; duplicate: boolean }>;
}
