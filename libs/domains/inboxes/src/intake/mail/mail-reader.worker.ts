import { authenticateMail } from './authentication';
import { NOBODY_ASKED, type FromReader, type ToReader } from './mail.types';
import { parseMail } from './mime';

// A process of its own: it reads one mail after another, has no settings, and asks its parent what stands in the DNS.

/** Questions that one mail may cause. */
const MAX_QUESTIONS = 50;

interface Waiting {
  resolve: (records: unknown[]) => void;
  reject: (error: Error) => void;
}

const waiting = new Map<number, Waiting>();
let lastId = 0;

const say = (message: FromReader) => process.send!(message);

/** A resolver as `node:dns` has it. */
function resolverOfOneMail() {
  let asked = 0;
  return (name: string, rrtype: string): Promise<string[]> => {
    if (++asked > MAX_QUESTIONS) return Promise.reject(noRecords('ETIMEOUT'));
    const id = ++lastId;
    say({ type: 'resolve', id, name, rrtype });
    return new Promise((resolve, reject) => waiting.set(id, { resolve: resolve as Waiting['resolve'], reject }));
  };
}

const noRecords = (code: string): Error => Object.assign(new Error('There is no answer'), { code });

async function read({ raw, envelope }: ToReader & { type: 'read' }): Promise<void> {
  waiting.clear();
  say({ type: 'parts', parts: await parseMail(raw, envelope).catch(() => null) });
  say({ type: 'auth', auth: await authenticateMail(raw, envelope, resolverOfOneMail()).catch(() => NOBODY_ASKED) });
}

process
  .on('message', (message: ToReader) => {
    if (message.type === 'read') return void read(message);
    const question = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type === 'records') question?.resolve(message.records);
    else question?.reject(noRecords(message.code));
  })
  .on('disconnect', () => process.exit());
