import { authenticateMail } from './authentication';
import { NOBODY_ASKED, type FromReader, type ToReader } from './mail.types';
import { parseMail } from './mime';

// A process of its own: it parses one mail after another, has no settings, and asks its parent what stands in the DNS.

/** Questions that one mail may cause. */
const MAX_QUESTIONS = 50;

interface Waiting {
  resolve: (records: unknown[]) => void;
  reject: (error: Error) => void;
}

/** By mail, its questions that are not answered. One that is not in here any more asks nothing. */
const waiting = new Map<number, Map<number, Waiting>>();

const say = (message: FromReader) => process.send!(message);

const noRecords = (code: string): Error => Object.assign(new Error('There is no answer'), { code });

/** A resolver as `node:dns` has it. */
function resolverOf(mail: number) {
  let asked = 0;
  return (name: string, rrtype: string): Promise<string[]> => {
    const questions = waiting.get(mail);
    if (!questions || ++asked > MAX_QUESTIONS) return Promise.reject(noRecords('ETIMEOUT'));
    say({ type: 'resolve', mail, id: asked, name, rrtype });
    return new Promise((resolve, reject) => questions.set(asked, { resolve: resolve as Waiting['resolve'], reject }));
  };
}

async function read({ type, mail, raw, envelope }: ToReader & { type: 'read' | 'authenticate' }): Promise<void> {
  if (type === 'read') say({ type: 'parts', mail, parts: await parseMail(raw, envelope).catch(() => null) });
  waiting.set(mail, new Map());
  const auth = await authenticateMail(raw, envelope, resolverOf(mail)).catch(() => NOBODY_ASKED);
  waiting.delete(mail);
  say({ type: 'auth', mail, auth });
}

function forget(mail: number): void {
  const questions = waiting.get(mail);
  waiting.delete(mail);
  questions?.forEach(({ reject }) => reject(noRecords('ETIMEOUT')));
}

process
  .on('message', (message: ToReader) => {
    if (message.type === 'read' || message.type === 'authenticate') return void read(message);
    if (message.type === 'forget') return forget(message.mail);
    const questions = waiting.get(message.mail);
    const question = questions?.get(message.id);
    questions?.delete(message.id);
    if (message.type === 'records') question?.resolve(message.records);
    else question?.reject(noRecords(message.code));
  })
  .on('disconnect', () => process.exit());
