import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request } from 'express';
import { receiveFile } from './multipart';

it('gives up at once where the client left before it was asked', async () => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = http.request({
    port: (server.address() as AddressInfo).port,
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': '1000' },
  });
  client.on('error', () => undefined).flushHeaders();
  const [request] = (await once(server, 'request')) as [Request];
  client.destroy();
  // What happens while a guard looks into the database.
  await new Promise((resolve) => request.once('error', () => undefined).once('close', resolve));
  await expect(receiveFile(request)).rejects.toMatchObject({ code: 'validation_error' });
  server.close();
});
