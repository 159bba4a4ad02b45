import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
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

describe('an upload', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  const BLOCK = Buffer.alloc(64 * 1024);
  const begin = async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const request = Object.assign(new PassThrough(), { headers, complete: false });
    request.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n!');
    return { request, file: await receiveFile(request as unknown as Request) };
  };
  /** @param everyS the seconds between two blocks */
  const send = async (request: PassThrough, blocks: number, everyS: number) => {
    for (let i = 0; i < blocks && !request.destroyed; i++) {
      request.write(BLOCK);
      for (let s = 0; s < everyS; s++) {
        await new Promise((resolve) => setImmediate(resolve));
        await jest.advanceTimersByTimeAsync(1_000);
      }
    }
  };
  const end = (request: PassThrough) => Object.assign(request, { complete: true }).end('\r\n--b--\r\n');

  it('whose sender sends next to nothing is cut off', async () => {
    const { request, file } = await begin();
    file.bytes.resume();
    await send(request, 4, 15);
    expect(request.destroyed).toBe(true);
    await expect(file.complete).rejects.toMatchObject({ code: 'validation_error' });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('whose sender is slow comes whole', async () => {
    const { request, file } = await begin();
    const bytes = buffer(file.bytes);
    await send(request, 40, 2);
    end(request);
    expect((await bytes).length).toBe(1 + 40 * BLOCK.length);
    await file.complete;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('whose sender waits for the storage comes whole, however long that takes', async () => {
    const { request, file } = await begin();
    await send(request, 6, 0);
    await send(request, 1, 300);
    const bytes = buffer(file.bytes);
    end(request);
    expect((await bytes).length).toBe(1 + 7 * BLOCK.length);
    await file.complete;
    expect(jest.getTimerCount()).toBe(0);
  });
});
