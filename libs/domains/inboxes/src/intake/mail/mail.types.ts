import type { MessageFacts } from '../../rules/message-facts';
import type { IncomingPart } from '../intake.port';

/** What is known of a mail besides its text. */
export interface MailEnvelope {
  /** Reverse-path: empty is the null sender, null is not known. */
  mail_from: string | null;
  /** Who has delivered it; null where somebody else has taken it in. */
  client: { ip: string; helo: string } | null;
}

export interface MailAddress {
  /** Canonical. */
  address: string;
  name: string | null;
}

/** What stands in a mail. Nothing of it is made storable yet. */
export interface MailParts {
  subject: string | null;
  text: string;
  from: MailAddress[];
  reply_to: MailAddress[];
  /** To and Cc. */
  to: MailAddress[];
  message_id: string | null;
  references: string[];
  /** Names in lower case, each once. */
  headers: [name: string, value: string][];
  automatic: string | null;
  files: IncomingPart[];
  /** Attachments beyond those that are kept. */
  left_out: number;
}

export type MailAuth = NonNullable<MessageFacts['auth']>;

/** Each asks the DNS on its own account. */
export type Vouching = keyof MailAuth;

/** What is said where nobody could be asked. */
export const NOBODY_ASKED: MailAuth = { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' };
/** Of a mail that cannot be looked at: it may have been made so, to be taken for somebody's. */
export const NOBODY_VOUCHES: MailAuth = { ...NOBODY_ASKED, dmarc: 'fail' };

/** Whom a mail is shown to be from, where that is one alone. */
export const fromAlone = (parts: MailParts | null): string | null => (parts?.from.length === 1 ? parts.from[0].address : null);

/** What a child is told, by numbers that its parent gives to mails, and itself to questions. */
export type ToReader =
  | { type: 'read'; mail: number; raw: Buffer; envelope: MailEnvelope }
  | { type: 'authenticate'; mail: number; raw: Buffer; envelope: MailEnvelope; from: string | null }
  | { type: 'records'; id: number; records: unknown[] }
  | { type: 'no_records'; id: number; code: string };

/** What a child says of a mail: what stands in it (null: it cannot be read), then who vouches for it. */
export type FromReader = { mail: number } & (
  | { type: 'parts'; parts: MailParts | null }
  | { type: 'resolve'; id: number; by: Vouching; name: string; rrtype: string }
  | { type: 'auth'; auth: MailAuth }
);
