import { once } from 'node:events';
import { createSocket, type Socket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { asking } from './policy';

const [A, AAAA] = [1, 28];
/** By name and kind, the bytes of an address; no others exist, and those of `silent.example` are never answered. */
const RECORDS: Record<string, number[]> = {
  [`both.example ${A}`]: [192, 0, 2, 1],
  [`both.example ${AAAA}`]: [0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 1],
  [`four.example ${A}`]: [192, 0, 2, 2],
  [`six.example ${AAAA}`]: [0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 2],
};

/** What a name server says to a question. */
function answerTo(question: Buffer): Buffer | undefined {
  const labels: string[] = [];
  let at = 12;
  for (; question[at]; at += question[at] + 1) labels.push(question.toString('latin1', at + 1, at + 1 + question[at]));
  const kind = question.readUInt16BE(at + 1);
  if (labels.join('.') === 'silent.example') return undefined;
  const record = RECORDS[`${labels.join('.')} ${kind}`];
  const isThere = Object.keys(RECORDS).some((key) => key.startsWith(`${labels.join('.')} `));
  const head = Buffer.from([question[0], question[1], 0x81, isThere ? 0x80 : 0x83, 0, 1, 0, record ? 1 : 0, 0, 0, 0, 0]);
  const found = record ? Buffer.from([0xc0, 0x0c, 0, kind, 0, 1, 0, 0, 0, 60, 0, record.length, ...record]) : Buffer.alloc(0);
  return Buffer.concat([head, question.subarray(12, at + 5), found]);
}

describe('names of the choice of tenants', () => {
  let server: Socket;
  let resolver: dns.Resolver;

  beforeAll(async () => {
    server = createSocket('udp4').on('message', (question, { port, address }) => {
      const answer = answerTo(question);
      if (answer) server.send(answer, port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    resolver = new dns.Resolver({ timeout: 500, tries: 1 });
    resolver.setServers([`127.0.0.1:${server.address().port}`]);
  });
  afterAll(() => server.close());

  it.each([
    ['both.example', ['192.0.2.1', '2001:db8::1']],
    ['four.example', ['192.0.2.2']],
    ['six.example', ['2001:db8::2']],
    ['both.example.', ['192.0.2.1', '2001:db8::1']],
  ])('have all their addresses: %s', async (name, addresses) => {
    expect(await asking(resolver)(name)).toEqual(addresses);
  });

  it('are unknown where nobody knows them', async () => {
    await expect(asking(resolver)('none.example')).rejects.toThrow('ENOTFOUND');
  });

  it('keep no thread that others need, where their servers do not answer', async () => {
    let waiting = 0;
    const asked = Array.from({ length: 20 }, () => {
      waiting++;
      return asking(resolver)('silent.example')
        .catch((error: Error) => error.message)
        .finally(() => waiting--);
    });
    await dns.lookup('localhost');
    expect(waiting).toBe(20);
    for (const said of await Promise.all(asked)) expect(said).toMatch(/ETIMEOUT|ECONNREFUSED/);
  });
});
