import { EnvelopeCrypto } from '@aps/platform/crypto';
import { parseEmail } from '@aps/platform/email';
import { sql } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';

/** Mails to an address, oldest first. */
export async function mails(service: TestService, to: string): Promise<{ subject: string; text: string }[]> {
  const rows = await service.db.query(
    sql<{ id: string; subject: string; body: string }>('SELECT id, subject, body FROM outbound_mails WHERE recipient = $1 ORDER BY id'),
    [parseEmail(to)?.mailbox],
  );
  const place = (rowId: string) => ({ orgId: null, table: 'outbound_mails', column: 'body', rowId });
  const open = (id: string, body: string) => service.get(EnvelopeCrypto).decrypt(service.db, place(id), body);
  return Promise.all(
    rows.map(async ({ id, subject, body }) => ({ subject, text: (JSON.parse(await open(id, body)) as { text: string }).text })),
  );
}

/** The secrets of the links of a kind that an address was mailed, oldest first. */
export async function mailedLinks(service: TestService, to: string, kind: 'invite' | 'reset-password' | 'verify'): Promise<string[]> {
  const link = new RegExp(`https://app\\.example/${kind}/([\\w-]{43})\\n`);
  return (await mails(service, to)).flatMap(({ text }) => link.exec(text)?.[1] ?? []);
}
