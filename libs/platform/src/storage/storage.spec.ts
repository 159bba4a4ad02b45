import { createHash, randomBytes } from 'node:crypto';
import disk from 'node:fs/promises';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync, mkdirSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { DiskStorage, S3Storage, type ObjectStorage } from './index';
import { configuredStorage } from './storage.module';
import { startTestS3, type TestS3 } from './testing/s3-server';

const MiB = 1024 * 1024;
const key = 'org/file.1';
let dir: string;
let s3: TestS3;

beforeAll(async () => {
  Logger.overrideLogger(false);
  dir = mkdtempSync(path.join(tmpdir(), 'storage-'));
  s3 = await startTestS3();
});
afterAll(async () => {
  await s3.close();
  rmSync(dir, { recursive: true, force: true });
});

const text = async (storage: ObjectStorage, at = key): Promise<string | undefined> => {
  const found = await storage.get(at);
  return found ? (await buffer(found.stream)).toString() : undefined;
};
const filesBelow = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((e) => e.isFile())
        .map((e) => e.name)
    : [];

describe.each([
  ['the disk', () => new DiskStorage(dir)],
  ['S3', () => new S3Storage(s3.options)],
])('%s', (_name, make) => {
  let storage: ObjectStorage;
  beforeEach(async () => {
    storage = make();
    await storage.delete(key);
  });

  it('gives back what was put, whole or in part', async () => {
    expect(await storage.exists(key)).toBe(false);
    await storage.put(key, Readable.from([Buffer.from('0123'), Buffer.from('456789')]));
    expect(await storage.exists(key)).toBe(true);
    expect(await text(storage)).toBe('0123456789');
    const whole = (await storage.get(key))!;
    expect([whole.length, (await buffer(whole.stream)).toString()]).toEqual([10, '0123456789']);
    const part = (await storage.get(key, { start: 3, length: 4 }))!;
    expect([part.length, (await buffer(part.stream)).toString()]).toEqual([4, '3456']);
  });

  it('replaces, and removes once and again', async () => {
    await storage.put(key, Readable.from([Buffer.from('old')]));
    await storage.put(key, Readable.from([Buffer.from('new')]));
    expect(await text(storage)).toBe('new');
    await storage.delete(key);
    await storage.delete(key);
    expect([await storage.get(key), await storage.exists(key)]).toEqual([null, false]);
  });

  it('takes what is larger than a part without holding it', async () => {
    const block = randomBytes(MiB);
    const hash = createHash('sha256');
    await storage.put(
      key,
      Readable.from(
        (function* () {
          for (let i = 0; i < 20; i++) {
            hash.update(block);
            yield block;
          }
        })(),
        { objectMode: false },
      ),
    );
    const found = (await storage.get(key))!;
    expect(found.length).toBe(20 * MiB);
    expect(
      createHash('sha256')
        .update(await buffer(found.stream))
        .digest('hex'),
    ).toBe(hash.digest('hex'));
  });

  it.each([
    ['before the first part is full', 1],
    ['after parts were sent', 20],
  ])('leaves nothing of a source that fails %s, and says what failed', async (_when, mebibytes) => {
    await storage.put(key, Readable.from([Buffer.from('old')]));
    const source = Readable.from(
      (function* () {
        for (let i = 0; i < mebibytes; i++) yield Buffer.alloc(MiB);
        throw new Error('the client went away');
      })(),
      { objectMode: false },
    );
    await expect(storage.put(key, source)).rejects.toThrow('the client went away');
    expect(await text(storage)).toBe('old');
    expect([s3.openUploads, filesBelow(path.join(dir, '.half-written'))]).toEqual([0, []]);
  });

  it('hears of a source that has failed before it was read', async () => {
    const source = new PassThrough();
    const put = storage.put(key, source);
    source.destroy(new Error('gone at once'));
    await expect(put).rejects.toThrow('gone at once');
    expect(await storage.exists(key)).toBe(false);
  });

  it.each(['../x', 'a/../../x', '/etc/passwd', 'a//b', '.half-written/x', 'a/.b', 'a\\b', 'a\0b', '', 'é', 'a'.repeat(513)])(
    'takes no key like %j',
    async (bad) => {
      for (const attempt of [
        () => storage.get(bad),
        () => storage.delete(bad),
        () => storage.exists(bad),
        () => storage.put(bad, Readable.from([Buffer.from('x')])),
      ]) {
        await expect(attempt()).rejects.toThrow('This is no key');
      }
    },
  );
});

describe('the disk', () => {
  it('answers 503 and keeps nothing where it cannot write', async () => {
    const blocked = path.join(dir, 'blocked');
    writeFileSync(blocked, '');
    const storage = new DiskStorage(blocked);
    const source = Readable.from([Buffer.from('x')]);
    await expect(storage.put(key, source)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterS: 2 });
    // It works as soon as it can.
    rmSync(blocked);
    await storage.put(key, Readable.from([Buffer.from('x')]));
    expect(await text(storage)).toBe('x');
  });

  it('removes what processes that died had half written, and not what others are writing', async () => {
    const root = path.join(dir, 'crashed');
    const half = path.join(root, '.half-written');
    mkdirSync(half, { recursive: true });
    for (const name of ['old', 'young']) writeFileSync(path.join(half, name), 'x');
    utimesSync(path.join(half, 'old'), new Date(0), new Date(0));
    const storage = new DiskStorage(root);
    await storage.put(key, Readable.from([Buffer.from('x')]));
    expect([await storage.removeAbandoned(), filesBelow(half)]).toEqual([1, ['young']]);
    // Nobody has gone on with it.
    const old = new Date(Date.now() - 2 * 3_600_000 - 1_000);
    utimesSync(path.join(half, 'young'), old, old);
    expect([await storage.removeAbandoned(), filesBelow(half), await text(storage)]).toEqual([1, [], 'x']);
    expect(await new DiskStorage(path.join(dir, 'never written to')).removeAbandoned()).toBe(0);
  });
});

describe('S3', () => {
  it('sends short objects in one request and long ones in parts', async () => {
    const storage = new S3Storage(s3.options);
    s3.requests.length = 0;
    await storage.put(key, Readable.from([Buffer.from('short')]));
    await storage.put(key, Readable.from([Buffer.alloc(9 * MiB)]));
    expect(s3.requests).toEqual(['PUT', 'POST ?uploads', 'PUT part', 'PUT part', 'POST']);
  });

  it('tries again where the server stumbles, and answers 503 where it stays down', async () => {
    const storage = new S3Storage(s3.options);
    s3.failNext('PUT', 1);
    await storage.put(key, Readable.from([Buffer.from('twice')]));
    expect(await text(storage)).toBe('twice');
    s3.failNext('GET', 3);
    await expect(storage.get(key)).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it.each([
    ['a wrong secret', { credentials: { accessKeyId: 'test-access-key', secretAccessKey: 'wrong' } }],
    ['an unknown key', { credentials: { accessKeyId: 'wrong', secretAccessKey: 'test-secret-key' } }],
    ['another region', { region: 'us-east-1' }],
    ['a bucket that is not there', { bucket: 'nowhere' }],
  ])('says 503, and never that nothing is there, with %s', async (_what, change) => {
    const storage = new S3Storage({ ...s3.options, ...change });
    for (const attempt of [() => storage.get(key), () => storage.delete(key), () => storage.put(key, Readable.from([Buffer.from('x')]))]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'service_unavailable' });
    }
  });
});

describe('a disk', () => {
  it('takes nothing more where it is nearly full, and keeps what it has', async () => {
    const storage = new DiskStorage(dir);
    await storage.put(key, Readable.from([Buffer.from('old')]));
    const room = await disk.statfs(dir);
    const filled = jest.spyOn(disk, 'statfs').mockResolvedValue({ ...room, bavail: 1 });
    const source = Readable.from([Buffer.from('new')]);
    await expect(storage.put(key, source)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await text(storage)).toBe('old');
    await storage.delete(key);
    filled.mockRestore();
    await storage.put(key, Readable.from([Buffer.from('new')]));
    expect(await text(storage)).toBe('new');
  });

  it('takes no more of what it has begun to take when it is nearly full by then', async () => {
    const storage = new DiskStorage(dir);
    const room = await disk.statfs(dir);
    const filled = jest
      .spyOn(disk, 'statfs')
      .mockResolvedValue({ ...room, bavail: 1 })
      .mockResolvedValueOnce(room);
    const source = Readable.from(
      Array.from({ length: 8 }, () => Buffer.alloc(MiB)),
      { objectMode: false },
    );
    await expect(storage.put('org/large', source)).rejects.toMatchObject({ code: 'service_unavailable' });
    filled.mockRestore();
    expect([await storage.exists('org/large'), filesBelow(path.join(dir, '.half-written'))]).toEqual([false, []]);
  });
});

describe('the settings', () => {
  afterAll(() => loadConfig());
  const chosen = (env: Record<string, string>) => {
    loadConfig({ ...env });
    return configuredStorage();
  };

  it('choose the bucket where one is named, and the disk else', () => {
    expect(chosen({ FILES_DIR: dir })).toBeInstanceOf(DiskStorage);
    expect(chosen({ S3_BUCKET: 'files' })).toBeInstanceOf(S3Storage);
    expect(chosen({ S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' })).toBeInstanceOf(S3Storage);
    expect(() => chosen({ S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'a' })).toThrow('S3_SECRET_ACCESS_KEY');
  });

  it('of a disk load no S3 library', async () => {
    await jest.isolateModulesAsync(async () => {
      for (const name of ['@aws-sdk/client-s3', '@aws-sdk/lib-storage']) {
        jest.doMock(name, () => {
          throw new Error('loaded');
        });
      }
      const fresh = await import('@aps/platform/storage');
      const disk = new fresh.DiskStorage(dir);
      await disk.put(key, Readable.from([Buffer.from('x')]));
      expect(await text(disk)).toBe('x');
      await expect(new fresh.S3Storage(s3.options).exists(key)).rejects.toMatchObject({ cause: { message: 'loaded' } });
    });
  });
});
