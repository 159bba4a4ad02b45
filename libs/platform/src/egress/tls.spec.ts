import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { loadConfig } from '@aps/platform/config';
import { SHOP_EXAMPLE } from '../testing/certificate';
import { Egress } from './egress';

const { key, cert } = SHOP_EXAMPLE;

describe('Egress over TLS', () => {
  let server: https.Server;
  let port: number;
  let seen: { servername: unknown; host?: string }[];
  let dialled: string[];
  let egress: Egress;

  beforeEach(async () => {
    loadConfig({});
    seen = [];
    dialled = [];
    server = https.createServer({ key, cert }, (req, res) => {
      seen.push({ servername: (req.socket as TLSSocket & { servername?: unknown }).servername, host: req.headers.host });
      res.end('ok');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ({ port } = server.address() as AddressInfo);
    egress = new Egress({
      ca: cert,
      resolve: async (name) => (name.startsWith('down') ? ['93.184.216.1', '93.184.216.34'] : ['93.184.216.34']),
      dial: (address) => {
        dialled.push(address);
        if (address === '93.184.216.1') return new net.Socket().destroy(new Error('unreachable'));
        // Stands in for the public internet: the socket says that it arrived where it was sent.
        return Object.defineProperty(net.connect(port, '127.0.0.1'), 'remoteAddress', { get: () => address });
      },
    });
  });
  afterEach(async () => {
    await egress.onApplicationShutdown();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  it('connects to the checked address under the original name', async () => {
    for (const host of ['shop.example', 'shop.example:8443', 'SHOP.example']) {
      await expect(egress.fetch(`https://${host}/`, { purpose: 'tool', headers: { host: 'other.example' } })).resolves.toMatchObject({
        status: 200,
      });
    }
    expect(new Set(dialled)).toEqual(new Set(['93.184.216.34']));
    expect(seen).toEqual([
      { servername: 'shop.example', host: 'shop.example' },
      { servername: 'shop.example', host: 'shop.example:8443' },
      { servername: 'shop.example', host: 'shop.example' },
    ]);
  });

  it('refuses a certificate for another name', async () => {
    await expect(egress.fetch('https://bank.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'connect' });
    await expect(egress.fetch('https://93.184.216.34/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'connect' });
    expect(seen).toHaveLength(0);
  });

  it('goes on to the next address when one does not answer', async () => {
    // Refused for its name only after the second address has answered.
    await expect(egress.fetch('https://down.example/', { purpose: 'tool' })).rejects.toMatchObject({ reason: 'connect' });
    expect(dialled).toEqual(['93.184.216.1', '93.184.216.34']);
  });
});
