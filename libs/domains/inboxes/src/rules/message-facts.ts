/** What rules see of a message. Absent values are null or empty; nothing is invented. */
export interface MessageFacts {
  channel: 'email' | 'webhook';
  /** Of mail the canonical address, of a webhook the string at its `sender_path`. */
  sender: { address: string; name: string | null } | null;
  recipient: string | null;
  subject: string | null;
  body_text: string;
  attachments: { filename: string; media_type: string; size_bytes: number }[];
  /** By lower-case name; several of one name are joined by `, `. */
  headers: Record<string, string>;
  /** The JSON or form body of a webhook, else null. */
  payload: unknown;
  /** Of mail alone. */
  auth: { spf: string; dkim: string; dmarc: string } | null;
  size_bytes: number;
  tags: string[];
}
