import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Controller, Get, Logger, Query, Req } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Listing, mapListed } from '@aps/platform/database';
import { createTestDatabase, sql, type TestDatabase } from '@aps/platform/testing';
import type { Response } from 'express';
import { PageQuery, PageStream, toArray, toPage } from './pagination';
import type { RequestContext } from './request-context';
import { startEdge, type TestEdge } from './testing/edge';

/** So much to a row that a list is more than sockets hold. */
const WIDTH = 8_000;
const ROWS = 2_345;
const BATCHES = 47;

const REAL_TIME: FakeableAPI[] = [
  ...(['Date', 'performance', 'hrtime', 'nextTick', 'queueMicrotask'] as const),
  ...(['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] as const),
];

const THINGS = new Listing<{ id: number; text: string }, { below: number }>({
  key: 't.id',
  select: `t.id, repeat('ä', ${WIDTH / 2}) AS text`,
  from: 'things t',
  where: { below: 't.id < $' },
  order: 't.id DESC',
});

let database: TestDatabase;
/** Batches that were read. */
let batches: number;
/** Before a batch is answered. */
let onBatch: () => Promise<void> | void;
/** What a row may do when it is written. */
let onRow: (id: number, row: object) => void;
/** As what knows callers sets it. */
let openList: RequestContext['openList'];

const convert = (row: { id: number; text: string }) => {
  onRow(row.id, row);
  return { id: row.id, text: row.text };
};
const page = async (query: PageQuery, rows: number) =>
  toPage(
    await mapListed(await THINGS.page(database.db, { below: rows }, query), async (items) => {
      batches++;
      await onBatch();
      return [...items];
    }),
    query,
    convert,
  );

@Controller()
class Things {
  @Get('many')
  many(@Query() query: PageQuery, @Req() request: RequestContext) {
    request.openList = openList;
    return page(query, ROWS);
  }
  @Get('bare')
  async bare(@Query() query: PageQuery) {
    return toArray(await THINGS.page(database.db, { below: ROWS }, query), ({ id }) => ({ id }));
  }
  @Get('hundred')
  hundred(@Query() query: PageQuery) {
    return page(query, 100);
  }
  @Get('hundred-and-one')
  hundredAndOne(@Query() query: PageQuery) {
    return page(query, 101);
  }
}

describe('a list over HTTP', () => {
  let edge: TestEdge;
  let errors: jest.SpyInstance;
  const downTo = (first: number, last = 0) => Array.from({ length: first - last + 1 }, (_, i) => first - i);
  const ask = async (path: string) => {
    const { status, headers, body, text } = await edge.call('GET', path);
    const { items, total, next_offset } = body as { items: { id: number }[]; total: number; next_offset: number | null };
    return { status, headers, text, body: body as object, total, next_offset, ids: items?.map(({ id }) => id) };
  };
  /** A client that reads as it likes. */
  const open = async (path: string): Promise<http.IncomingMessage> => {
    const request = http.get(edge.url + path, { agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return response.on('error', () => undefined).pause();
  };
  const busy = () => database.db.poolStats().total - database.db.poolStats().idle;
  /** The number of batches, when no more are read. One that is slow to come is still being read, and has a connection. */
  const still = async (): Promise<number> => {
    for (let before = -1; before !== batches || busy(); await sleep(200)) before = batches;
    return batches;
  };

  beforeAll(async () => {
    database = await createTestDatabase({ entities: [] });
    await database.db.execute(sql('CREATE TABLE things (id int PRIMARY KEY)'));
    await database.db.execute(sql(`INSERT INTO things SELECT generate_series(0, ${ROWS - 1})`));
    edge = await startEdge({ controllers: [Things] });
  });
  afterAll(async () => {
    await edge.close();
    await database.drop();
  });
  beforeEach(() => {
    batches = 0;
    onBatch = onRow = () => undefined;
    openList = undefined;
    errors = jest.spyOn(Logger.prototype, 'error');
  });
  afterEach(() => errors.mockRestore());

  it('is every row without a limit, written as one object as it would be in one piece', async () => {
    const { status, headers, text, body, ids, total, next_offset } = await ask('/many');
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, 'application/json; charset=utf-8', null]);
    expect([total, next_offset, Object.keys(body)]).toEqual([ROWS, null, ['items', 'total', 'next_offset']]);
    expect(ids).toEqual(downTo(ROWS - 1));
    expect(text).toBe(JSON.stringify(body));
    expect(batches).toBe(BATCHES);
  });

  it('may be a bare array', async () => {
    const { headers, text, body } = await ask('/bare');
    expect([headers.get('content-type'), headers.get('content-length')]).toEqual(['application/json; charset=utf-8', null]);
    expect(body).toEqual(downTo(ROWS - 1).map((id) => ({ id })));
    expect(text).toBe(JSON.stringify(body));
    const short = await ask('/bare?limit=2');
    expect([short.text, short.headers.get('content-length')]).toEqual([
      JSON.stringify([{ id: ROWS - 1 }, { id: ROWS - 2 }]),
      expect.any(String),
    ]);
  });

  it('goes out in one piece where it is no longer than the largest page', async () => {
    const { headers, ids, total, next_offset } = await ask('/hundred');
    expect(headers.get('content-length')).not.toBeNull();
    expect([ids, total, next_offset]).toEqual([downTo(99), 100, null]);
    const longer = await ask('/hundred-and-one');
    expect([longer.ids, longer.total, longer.next_offset, longer.headers.get('content-length')]).toEqual([downTo(100), 101, null, null]);
  });

  it.each([
    ['/many?limit=100', downTo(ROWS - 1, ROWS - 100), 100],
    ['/many?limit=45&offset=2300', downTo(44), null],
    ['/many?limit=44&offset=2300', downTo(44, 1), 2344],
    ['/many?limit=100&offset=2300', downTo(44), null],
    ['/many?limit=1&offset=2345', [], null],
    ['/many?offset=2345', [], null],
    ['/many?offset=9999', [], null],
    ['/many?offset=2245', downTo(99), null],
    ['/many?offset=2000', downTo(344), null],
    ['/many?offset=5', downTo(ROWS - 6), null],
  ])('%s is those rows, the total of all, and where it goes on', async (path, rows, next) => {
    const { ids, total, next_offset } = await ask(path);
    expect([ids, total, next_offset]).toEqual([rows, ROWS, next]);
  });

  it('is read no faster than the client takes it, and holds no connection meanwhile', async () => {
    const response = await open('/many');
    expect(await still()).toBeLessThan(BATCHES / 2);
    expect(busy()).toBe(0);
    let text = '';
    for await (const piece of response.setEncoding('utf8')) text += String(piece);
    expect((JSON.parse(text) as { total: number }).total).toBe(ROWS);
    expect(batches).toBe(BATCHES);
  });

  it('keeps none of the rows while the client takes their text', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const rows: WeakRef<object>[] = [];
    onRow = (_, row) => rows.push(new WeakRef(row));
    const response = await open('/many');
    await still();
    collect();
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter((row) => row.deref())).toHaveLength(0);
    response.destroy();
  });

  describe('whose client is slow', () => {
    // Of time the seconds of the pace alone go by as the specs say.
    beforeEach(() => jest.useFakeTimers({ doNotFake: REAL_TIME }));
    afterEach(() => jest.useRealTimers());

    it('is broken off where it takes nothing', async () => {
      let served!: Response;
      openList = (response) => {
        served = response;
        return Promise.resolve(() => Promise.resolve());
      };
      const cut = await open('/many');
      for (; !served.destroyed; await sleep(5)) jest.advanceTimersByTime(1_000);
      cut.resume();
      await new Promise((resolve) => cut.once('close', resolve));
      expect([cut.complete, busy()]).toEqual([false, 0]);
      expect(batches).toBeLessThan(BATCHES);
      expect(errors).not.toHaveBeenCalled();
    });

    it.each([
      ['is broken off where it takes less than 512 KiB in half a minute', 15, true],
      ['goes on where it takes more', 40, false],
    ])('%s', async (_, piecesInHalfAMinute, isCut) => {
      const list = (await page({}, ROWS)) as PageStream<unknown>;
      const stream = list.getStream();
      list.cutOff = () => stream.destroy();
      let due = 0;
      for (let second = 0; second < 65 && !stream.destroyed; second++) {
        for (due += piecesInHalfAMinute / 30; due >= 1 && !stream.destroyed; due--) {
          stream.read();
          while (!stream.readableLength && !stream.destroyed) await new Promise((resolve) => setImmediate(resolve));
        }
        jest.advanceTimersByTime(1_000);
      }
      expect(stream.destroyed).toBe(isCut);
      stream.destroy();
    });

    it('is not broken off for the time in which the client waits for us', async () => {
      onBatch = () => {
        if (batches === 2) jest.advanceTimersByTime(120_000);
      };
      const { total } = await ask('/many');
      expect(total).toBe(ROWS);
    });
  });

  it('goes on for as long as its reader may read it, and is counted until then', async () => {
    PageStream.confirmMs = 0;
    const refused = { ask: 0, by: undefined as Error | undefined };
    openList = () => {
      return Promise.resolve(() => {
        refused.ask++;
        return refused.by ? Promise.reject(refused.by) : Promise.resolve();
      });
    };
    expect((await ask('/many')).total).toBe(ROWS);
    expect(refused.ask).toBeGreaterThan(BATCHES);
    // What fails decides nothing.
    refused.by = new Error('broken');
    expect((await ask('/many')).total).toBe(ROWS);
    const cut = await open('/many');
    await still();
    refused.by = new DomainError('not_org_member', 'You are not a member of this organization.');
    cut.resume();
    await new Promise((resolve) => cut.once('close', resolve));
    expect([cut.complete, busy(), batches < 3 * BATCHES]).toEqual([false, 0, true]);
    expect(errors).not.toHaveBeenCalled();
    PageStream.confirmMs = 5_000;
  });

  it('is refused as a whole where its reader has too many, and no other answer is', async () => {
    openList = () => Promise.reject(new DomainError('rate_limited', 'Too many.', { retryAfterS: 5 }));
    const { status, headers, body } = await ask('/many');
    expect([status, headers.get('retry-after'), headers.get('content-type')]).toEqual([429, '5', 'application/json; charset=utf-8']);
    expect(body).toMatchObject({ code: 'rate_limited' });
    expect((await ask('/many?limit=100')).status).toBe(200);
    expect(errors).not.toHaveBeenCalled();
  });

  it('is no longer read when the client has gone, which is nobody’s fault', async () => {
    const response = await open('/many');
    const read = await still();
    response.destroy();
    await sleep(300);
    expect([batches, busy()]).toEqual([read, 0]);
    // In the middle of a batch.
    let left!: () => void;
    const gone = new Promise<void>((resolve) => (left = resolve));
    batches = 0;
    onRow = (id) => id === 2_000 && left();
    const other = await open('/many');
    other.resume();
    await gone;
    other.destroy();
    expect(await still()).toBeLessThan(BATCHES);
    expect(busy()).toBe(0);
    // Before the answer has begun; and what fails then, fails for nobody.
    batches = 0;
    const request = http.get(`${edge.url}/many`, { agent: false }).on('error', () => undefined);
    onRow = () => {
      throw new Error('broken');
    };
    onBatch = async () => {
      request.destroy();
      await sleep(200);
    };
    while (!batches) await sleep(20);
    await sleep(200);
    expect(await still()).toBeLessThan(3);
    expect(errors).not.toHaveBeenCalled();
  });

  it.each([
    ['a fault', () => new Error('broken')],
    ['a refusal', () => new DomainError('not_found', 'Chat not found.')],
  ])('breaks off where %s comes in the middle, and logs it once', async (_, error) => {
    onRow = (id) => {
      if (id === 500) throw error();
    };
    const response = await open('/many');
    expect(response.statusCode).toBe(200);
    let cut: NodeJS.ErrnoException | undefined;
    response.on('error', (told: NodeJS.ErrnoException) => (cut = told)).resume();
    await new Promise((resolve) => response.once('close', resolve));
    expect([cut?.code, response.complete]).toEqual(['ECONNRESET', false]);
    expect(errors).toHaveBeenCalledTimes(1);
    expect(errors).toHaveBeenCalledWith(expect.objectContaining({ msg: 'Request failed', route: '/many' }));
  });

  it('is an error like any other where nothing is written yet', async () => {
    onRow = () => {
      throw new Error('broken');
    };
    const { status, headers, body } = await ask('/many');
    expect([status, headers.get('content-type'), body]).toEqual([
      500,
      'application/json; charset=utf-8',
      expect.objectContaining({ code: 'internal_error' }),
    ]);
    expect(errors).toHaveBeenCalledTimes(1);
  });

  it('is not read for who wants its head alone', async () => {
    const { status, headers, text } = await edge.call('HEAD', '/many');
    expect([status, headers.get('content-type'), text]).toEqual([200, 'application/json; charset=utf-8', '']);
    expect(await still()).toBeLessThan(4);
    expect(errors).not.toHaveBeenCalled();
  });
});
