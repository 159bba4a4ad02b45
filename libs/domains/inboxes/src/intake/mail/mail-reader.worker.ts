import { serveParent } from '@aps/platform/children';
import type { DNSResolver } from 'mailauth';
import { authenticateMail } from './authentication';
import { fromAlone, NOBODY_VOUCHES, type FromReader, type MailEnvelope, type ToReader, type Vouching } from './mail.types';
import { parseMail } from './mime';

// A process of its own: it parses one mail after another, has no settings, and asks its parent what stands in the DNS.

interface Waiting {
  resolve: (records: string[]) => void;
  reject: (error: Error) => void;
}

/** Questions that are not answered. */
const waiting = new Map<number, Waiting>();
let lastQuestion = 0;

const say = serveParent<ToReader, FromReader>((message) => {
  if (message.type === 'read') return void read(message.mail, message.raw, message.envelope);
  if (message.type === 'authenticate') return void authenticate(message.mail, message.raw, message.envelope, message.from);
  const question = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.type === 'records') question?.resolve(message.records as string[]);
  else question?.reject(Object.assign(new Error('There is no answer'), { code: message.code }));
});

/** A resolver as `node:dns` has it. */
const resolverOf =
  (mail: number, by: Vouching): DNSResolver =>
  (name, rrtype) =>
    new Promise((resolve, reject) => {
      const id = ++lastQuestion;
      waiting.set(id, { resolve, reject });
      say({ type: 'resolve', mail, id, by, name, rrtype });
    });

async function read(mail: number, raw: Buffer, envelope: MailEnvelope): Promise<void> {
  const parts = await parseMail(raw, envelope).catch(() => null);
  say({ type: 'parts', mail, parts });
  await authenticate(mail, raw, envelope, fromAlone(parts));
}

async function authenticate(mail: number, raw: Buffer, envelope: MailEnvelope, from: string | null): Promise<void> {
  const auth = await authenticateMail(raw, envelope, from, (by) => resolverOf(mail, by)).catch(() => NOBODY_VOUCHES);
  say({ type: 'auth', mail, auth });
}
