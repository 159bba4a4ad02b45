import { Readable, Writable } from 'node:stream';
import type { FilesQueries } from '../files.queries';
import type { FileRow } from '../files.repository';
import type { Request, Response } from 'express';
import { answerFile } from './file-answer';

const KiB = 1024;
const SIZE = 10 * KiB * KiB;
const file = { id: 'f', filename: 'x.bin', media_type: 'application/octet-stream', size_bytes: SIZE, sha256: 'hash' } as FileRow;

/** A client that takes 64 KiB whenever it is told to. */
class Client extends Writable {
  taken = 0;
  private next?: () => void;
  constructor() {
    super({ highWaterMark: 1 });
  }
  setHeader = () => this;
  take(): void {
    const next = this.next;
    this.next = undefined;
    next?.();
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.taken += chunk.length;
    this.next = done;
  }
}

describe('a download', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  /** @param perSecond blocks that the client takes */
  const follow = async (perSecond: number, seconds: number) => {
    const source = Readable.from(Array.from({ length: SIZE / (64 * KiB) }, () => Buffer.alloc(64 * KiB)));
    const queries = { open: () => Promise.resolve({ length: SIZE, stream: source }) } as unknown as FilesQueries;
    const client = new Client();
    const answered = answerFile(
      { method: 'GET', headers: {}, range: () => undefined } as unknown as Request,
      client as unknown as Response,
      file,
      queries,
    );
    let due = 0;
    for (let second = 0; second < seconds && !client.destroyed; second++) {
      for (due += perSecond; due >= 1; due--) {
        client.take();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await jest.advanceTimersByTimeAsync(1_000);
    }
    return { client, source, answered };
  };

  it('whose reader takes next to nothing is cut off, and lets go of the storage', async () => {
    const { client, source, answered } = await follow(1 / 15, 60);
    await answered;
    expect([client.destroyed, client.writableFinished, source.destroyed]).toEqual([true, false, true]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('whose reader is slow comes whole', async () => {
    const { client, answered } = await follow(1 / 2, 400);
    await answered;
    expect([client.taken, client.writableFinished]).toEqual([SIZE, true]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
