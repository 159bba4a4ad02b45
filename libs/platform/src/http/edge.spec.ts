import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Body, Controller, Delete, Get, Logger, Param, Patch, Post } from '@nestjs/common';
import { eventually } from '@aps/platform/testing';
import { ApiDocsController, WelcomeController } from './api-docs';
import { StringField } from './fields';
import { startEdge, type TestEdge } from './testing/edge';

const MIB = 1024 * 1024;

class Thing {
  @StringField({ optional: true })
  text?: string;
}

@Controller('things')
class ThingsController {
  @Post()
  make(@Body() body: Thing) {
    return body;
  }
  @Get()
  list() {
    return [];
  }
  @Get('special')
  special() {
    return {};
  }
  @Patch(':id')
  change(@Param('id') id: string, @Body() body: Thing) {
    return { id, ...body };
  }
  @Delete(':id')
  remove() {
    return {};
  }
  @Post(':id/stop')
  stop() {
    return {};
  }
}

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ controllers: [ThingsController, ApiDocsController, WelcomeController] });
});
afterAll(() => edge.close());

/** A request as it is written, which client libraries would better. */
const raw = (head: string, body = '') =>
  new Promise<string>((resolve, reject) => {
    let answer = '';
    const socket = net.connect(edge.port, '127.0.0.1', () => socket.write(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n${body}`));
    socket
      .on('data', (data) => (answer += data.toString()))
      .once('error', reject)
      .once('end', () => resolve(answer));
  });
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

describe('a body', () => {
  const BODY = '{"text":"a"}';
  const post = (type: string | undefined, more = '') =>
    raw(`POST /things HTTP/1.1\r\nContent-Length: ${BODY.length}${type === undefined ? '' : `\r\nContent-Type: ${type}`}${more}`, BODY);

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/problem+json',
    'application/json ; profile=x',
  ])('is taken as %s', async (type) => {
    expect(await post(type)).toMatch(/^HTTP\/1\.1 201 [^]*\{"text":"a"\}$/);
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=b',
    'application/xml',
    'application/jsonp',
    'application/json, text/plain',
    'json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=klingon',
  ])('is answered 415 as %j', async (type) => {
    const answer = await post(type);
    expect([statusOf(answer), JSON.parse(answer.split('\r\n\r\n')[1])]).toEqual([
      415,
      { code: 'unsupported_media_type', detail: expect.stringContaining('application/json'), request_id: expect.any(String) },
    ]);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may come as %s, and grow to no more than it may be', async (encoding, encode) => {
    const send = (text: string) =>
      fetch(`${edge.url}/things`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        body: encode(text),
      });
    expect(await (await send('{"text":"packed"}')).json()).toEqual({ text: 'packed' });
    expect((await send(' '.repeat(1024 * 1024 + 1))).status).toBe(413);
    const broken = await fetch(`${edge.url}/things`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body: 'none of it',
    });
    expect([broken.status, ((await broken.json()) as { detail: object[] }).detail]).toEqual([
      422,
      [{ loc: ['body'], msg: expect.any(String), type: 'json_invalid' }],
    ]);
  });

  it('that is broken off is nobody’s fault, and that of nobody else', async () => {
    const failed = jest.spyOn(Logger.prototype, 'error');
    const head = 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    const socket = net.connect(edge.port, '127.0.0.1', () => socket.write(head + BODY));
    // It is being read when the other one is answered.
    await once(socket, 'connect');
    expect(statusOf(await post('application/json'))).toBe(201);
    socket.destroy();
    for (let i = 0; i < 3; i++) expect(statusOf(await post('application/json'))).toBe(201);
    expect(failed).not.toHaveBeenCalled();
    failed.mockRestore();
  });

  it('is answered 415 in an unknown encoding', async () => {
    expect(statusOf(await post('application/json', '\r\nContent-Encoding: rot13'))).toBe(415);
  });

  it.each([
    ['that is announced as too large', 'Content-Length: 2000000000', '{}'],
    [
      'that turns out to be too large',
      'Transfer-Encoding: chunked',
      `${(1024 * 1024 + 1).toString(16)}\r\n${' '.repeat(1024 * 1024 + 1)}\r\n`,
    ],
  ])('%s is answered 413 before the rest of it has come', async (_, length, begun) => {
    const socket = net.connect(edge.port, '127.0.0.1', () =>
      socket.write(`POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n${begun}`),
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 [^]*"code":"payload_too_large"/);
    socket.destroy();
  });

  it('of unknown length is one, too', async () => {
    expect(statusOf(await raw('POST /things HTTP/1.1\r\nTransfer-Encoding: chunked', '1\r\nx\r\n0\r\n\r\n'))).toBe(415);
  });

  it('that is not there needs no type', async () => {
    expect([
      statusOf(await raw('POST /things HTTP/1.1')),
      statusOf(await raw('POST /things HTTP/1.1\r\nContent-Length: 0\r\nContent-Type: text/plain')),
    ]).toEqual([201, 201]);
  });

  it('is for later where its sender has too much of them on the way', async () => {
    const begun = await Promise.all(
      Array.from({ length: 49 }, async () => {
        const socket = net.connect(edge.port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write(`POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n`);
        await new Promise((resolve) => socket.write(Buffer.alloc(MIB - 1, ' '), resolve));
        return socket;
      }),
    );
    const length = 1024;
    const large = () => raw(`POST /things HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${length}`, BODY.padEnd(length));
    const refused = await eventually(large, (answer) => statusOf(answer) === 503);
    expect(refused).toContain('Retry-After: 1');
    for (const socket of begun) socket.destroy();
    await eventually(large, (answer) => statusOf(answer) === 201);
  });

  it('that nobody asked for is passed over', async () => {
    expect([
      statusOf(await raw('POST /things/1/stop HTTP/1.1\r\nContent-Length: 1', 'x')),
      statusOf(await raw('GET /things HTTP/1.1\r\nContent-Length: 1', 'x')),
    ]).toEqual([201, 200]);
  });
});

describe('a method', () => {
  const LIST = 'GET, HEAD, OPTIONS, POST';
  it.each([
    ['PUT', '/things', LIST],
    ['DELETE', '/things/', LIST],
    ['PROPFIND', '/things?x=1', LIST],
    ['TRACE', '/things', LIST],
    ['GET', '/things/1', 'DELETE, OPTIONS, PATCH'],
    ['HEAD', '/things/1', 'DELETE, OPTIONS, PATCH'],
    ['POST', '/things/special', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
    ['GET', '/things/1/stop', 'OPTIONS, POST'],
    ['POST', '/', 'GET, HEAD, OPTIONS'],
  ])('that the address does not take is answered 405: %s %s', async (method, path, allow) => {
    const answer = await raw(`${method} ${path} HTTP/1.1`);
    expect([statusOf(answer), /^Allow: (.*)$/m.exec(answer)?.[1].trim()]).toEqual([405, allow]);
    const body = answer.split('\r\n\r\n')[1];
    expect(body && (JSON.parse(body) as unknown)).toEqual(
      method === 'HEAD' ? '' : { code: 'method_not_allowed', detail: `This address takes ${allow}.`, request_id: expect.any(String) },
    );
  });

  it.each(['/things', '/things/'])('OPTIONS of %s is answered with those that it takes', async (path) => {
    const answer = await raw(`OPTIONS ${path} HTTP/1.1`);
    expect([statusOf(answer), /^Allow: (.*)$/m.exec(answer)?.[1].trim()]).toEqual([204, LIST]);
  });

  it('HEAD is answered as GET, without the body', async () => {
    const answer = await raw('HEAD /things HTTP/1.1');
    expect([statusOf(answer), answer.split('\r\n\r\n')[1]]).toEqual([200, '']);
  });

  it.each(['PUT', 'GET', 'OPTIONS', 'HEAD', 'TRACE'])('%s of no address is 404', async (method) => {
    expect([statusOf(await raw(`${method} /nothing HTTP/1.1`)), statusOf(await raw(`${method} /things/1/2/3 HTTP/1.1`))]).toEqual([
      404, 404,
    ]);
  });

  it.each(['*', '//', '/things/%ff', '/%'])('is never a fault: OPTIONS %s', async (target) => {
    expect(statusOf(await raw(`OPTIONS ${target} HTTP/1.1`))).toBeLessThan(500);
  });
});

describe('who has only the address', () => {
  const get = (path: string, accept?: string) => fetch(edge.url + path, { headers: accept === undefined ? {} : { accept } });

  it.each([undefined, '*/*', 'application/json', 'image/png', 'application/json, text/html;q=0.5'])(
    'is told as a program what this is: Accept %s',
    async (accept) => {
      const answer = await get('/', accept);
      expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'Accept']);
      expect(await answer.json()).toEqual({
        name: 'Agent platform',
        description: expect.any(String),
        documentation: '/api/docs',
        openapi: '/api/openapi.json',
        health: expect.stringContaining('/healthz'),
        next_step: expect.stringContaining('/api/auth/login'),
      });
    },
  );

  it('is shown a page in a browser, whose links lead on', async () => {
    const answer = await get('/', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await answer.text();
    expect(page).toContain('/healthz');
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, href]) => new URL(href, `${edge.url}/`));
    expect(links.map((url) => url.pathname)).toEqual(['/api/docs/favicon-32x32.png', '/api/docs', '/api/openapi.json']);
    for (const link of links) expect((await fetch(link)).status).toBe(200);
  });

  it.each(['/api/docs', '/api/docs/', '/api/docs?x=1', '/api/docs/?x=1'])(
    'finds the documentation with all its parts: %s',
    async (path) => {
      const page = await (await get(path)).text();
      const parts = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href]) => new URL(href, edge.url + path));
      expect(parts.map((url) => url.pathname)).toEqual(
        ['favicon-32x32.png', 'swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'].map((file) => `/api/docs/${file}`),
      );
      for (const part of parts) expect((await fetch(part)).status).toBe(200);
      const start = await (await fetch(parts.at(-1)!)).text();
      expect(start).toContain(`new URL('../openapi.json', document.currentScript.src)`);
      expect((await fetch(new URL('../openapi.json', parts.at(-1)))).status).toBe(200);
    },
  );

  it('leaves no file open where it hangs up', async () => {
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).endsWith('openapi.json');
        } catch {
          return false;
        }
      }).length;
    for (let i = 0; i < 20; i++) {
      const asking = http.get(`${edge.url}/api/openapi.json`, { agent: false });
      const [answer] = (await once(asking, 'response')) as [http.IncomingMessage];
      await once(answer, 'readable');
      asking.destroy();
    }
    await eventually(
      () => Promise.resolve(open()),
      (count) => count === 0,
    );
  });

  it.each(['constructor', '__proto__', 'toString', 'package.json', '..%2fpackage.json'])('finds no %s there', async (file) => {
    expect((await get(`/api/docs/${file}`)).status).toBe(404);
  });
});
