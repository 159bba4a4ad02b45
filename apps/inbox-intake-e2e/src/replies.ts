import type { Ended } from './people';
import type { MessageNow } from './verdict';

/** What has come to the senders of mails, by their own mail server. */
export interface RepliesVerdict {
  /** Mails that were answered, each counted once. */
  replied: number;
  /** Mails that were not. */
  replies_missing: number;
  /** Mails that were answered by two. A mailbox tells by its Message-ID one that has come again. */
  replied_twice: number;
  /** Mails that were answered though they had been terminated before that. */
  replied_after_end: number;
  /** Replies that came again: their worker died when they were sent, and that was not written yet. */
  replies_again: number;
}

export const REPLIED_WELL = { replies_missing: 0, replied_twice: 0, replied_after_end: 0 };

/** Compares the mails that a mail server has received with the messages that they answer. */
export function repliesVerdict(
  received: readonly string[],
  messages: readonly MessageNow[],
  terminated: ReadonlyMap<string, Ended>,
): RepliesVerdict {
  const replies = new Map<string, Set<string>>();
  for (const mail of received) {
    const key = /^In-Reply-To:\s+<([^>]+)@example\.com>/im.exec(mail)?.[1] ?? '';
    replies.set(key, (replies.get(key) ?? new Set()).add(/^Message-ID:\s+<([^>]+)>/im.exec(mail)?.[1] ?? ''));
  }
  const mails = messages.filter(({ channel_kind }) => channel_kind === 'email');
  const count = (is: (mail: MessageNow, n: number) => boolean) => mails.filter((mail) => is(mail, replies.get(mail.key)?.size ?? 0)).length;
  return {
    replied: count((_, n) => n > 0),
    replies_missing: count(({ id }, n) => n === 0 && terminated.get(id)?.isReplied !== false),
    replied_twice: count((_, n) => n > 1),
    replied_after_end: count(({ id }, n) => n > 0 && terminated.get(id)?.isReplied === false),
    replies_again: received.length - [...replies.values()].reduce((sum, { size }) => sum + size, 0),
  };
}
