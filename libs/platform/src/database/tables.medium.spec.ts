import { Column, DeleteDateColumn, Entity, In, IsNull, Not, PrimaryColumn } from 'typeorm';
import { DomainError } from '@aps/contracts';
import { createTestDatabase, sql, type TestDatabase } from '@aps/platform/testing';
import { NO_CALLER } from './database';
import { OrgListing } from './listing';
import { batchesOf, mapListed, type Listed, type Slice } from './lists';
import { OrgTable, Table, Tenant } from './tables';

class Org extends Tenant {
  constructor(readonly orgId: string) {
    super();
  }
}

@Entity('books')
class Book {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') org_id: string;
  @Column('text') slug: string;
  @Column('text', { nullable: true }) author: string | null;
  @Column('jsonb', { default: () => `'[]'` }) tags: string[];
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) price: string | null;
  @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

@Entity('settings')
class Setting {
  @PrimaryColumn('text') name: string;
  @PrimaryColumn('text') place: string;
  @Column('text', { nullable: true }) value: string | null;
}

const LIST = new OrgListing<Pick<Book, 'id' | 'slug'> & { loud: string }, { author?: string; untitled?: boolean; slugs?: string[] }>({
  key: 'b.id',
  slug: 'b.slug',
  org: 'b.org_id',
  select: 'b.id, b.slug, upper(b.slug) AS loud',
  from: 'books b',
  always: 'b.deleted_at IS NULL',
  where: { author: 'b.author = $', untitled: 'b.author IS NULL', slugs: 'b.slug = ANY($) OR b.slug = ($)[1]' },
  order: 'b.slug',
  what: 'Book',
});

// @ts-expect-error what belongs to an organization is not read without one
new Table(Book);
// @ts-expect-error what belongs to none is not read by one
new OrgTable(Setting);

describe('tables', () => {
  const ours = new Org('0198c0de-0000-7000-8000-00000000000a');
  const theirs = new Org('0198c0de-0000-7000-8000-00000000000b');
  const books = new OrgTable(Book);
  const settings = new Table(Setting, 'Ruling');
  let database: TestDatabase;
  let db: TestDatabase['db'];
  const inTx = <T>(fn: Parameters<typeof db.transaction<T>>[1]) => db.transaction(NO_CALLER, fn);
  const add = (slug: string, columns: Partial<Book> = {}, org = ours) => inTx((tx) => books.insert(tx, org, { slug, ...columns }));

  beforeAll(async () => {
    database = await createTestDatabase({ entities: [Book, Setting] });
    ({ db } = database);
    await db.execute(
      sql(`CREATE TABLE books (id uuid PRIMARY KEY, org_id uuid NOT NULL, slug text NOT NULL, author text, tags jsonb NOT NULL DEFAULT '[]',
        price numeric(20,6), deleted_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now())`),
    );
    await db.execute(sql('CREATE UNIQUE INDEX books_slug ON books (org_id, slug) WHERE deleted_at IS NULL'));
    await db.execute(sql('CREATE TABLE settings (name text, place text, value text, PRIMARY KEY (name, place))'));
  });
  afterAll(() => database.drop());
  beforeEach(() => db.execute(sql('TRUNCATE books, settings')));

  it('insert what is given, fill in the rest, and answer the row as statements would', async () => {
    const book = await add('emma', { tags: ['a'], price: '12.5' });
    expect(book).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      org_id: ours.orgId,
      slug: 'emma',
      author: null,
      tags: ['a'],
      price: '12.500000',
      deleted_at: null,
      created_at: expect.any(Date),
      updated_at: book.created_at,
    });
    expect(await books.find(db, ours, book.id)).toEqual(book);
    expect((await db.query(sql<Book>('SELECT * FROM books')))[0]).toEqual(book);
  });

  it('know a row by its id, its slug, or columns of its own', async () => {
    const { id } = await add('emma', { author: 'jane' });
    for (const key of [id, id.toUpperCase(), 'emma', { author: 'jane' }, { id: In([id]) }])
      expect((await books.get(db, ours, key)).id).toBe(id);
    for (const key of ['anna', '', "'", 'x'.repeat(9_000), { author: null }, { id, author: 'leo' }])
      expect(await books.find(db, ours, key)).toBeNull();
    await inTx((tx) => settings.insert(tx, { name: 'a', place: 'here' }));
    expect(await settings.find(db, { name: 'a', place: 'here' })).toEqual({ name: 'a', place: 'here', value: null });
    await expect(settings.get(db, { name: 'a', place: 'there' })).rejects.toEqual(new DomainError('not_found', 'Ruling not found.'));
  });

  it('take null, a value and an operator for different questions, in any order', async () => {
    await add('emma', { author: 'jane' });
    await add('anna');
    const slugs = async (where: Parameters<typeof books.list>[2]) =>
      (await books.list(db, ours, where, { slug: 'ASC' })).map((book) => book.slug);
    for (let round = 0; round < 2; round++) {
      expect(await slugs({ author: 'jane' })).toEqual(['emma']);
      expect(await slugs({ author: null })).toEqual(['anna']);
      expect(await slugs({ author: Not(IsNull()) })).toEqual(['emma']);
      expect(await slugs({ slug: In([]) })).toEqual([]);
      expect(await slugs({ slug: In(['emma']) })).toEqual(['emma']);
      expect(await slugs({ slug: In(['emma', 'anna']) })).toEqual(['anna', 'emma']);
      expect(await slugs({ slug: 'emma', author: 'jane' })).toEqual(['emma']);
      expect(await slugs({ author: 'jane', slug: 'emma' })).toEqual(['emma']);
      expect(await books.count(db, ours, { author: null })).toBe(1);
      expect(await books.count(db, ours, { slug: 'emma' })).toBe(1);
    }
  });

  it('never look past a column that was left without a value', async () => {
    await add('emma');
    await expect(async () => books.find(db, ours, { id: undefined })).rejects.toThrow('no value to look for in id');
    await expect(inTx(async (tx) => books.delete(tx, ours, { slug: undefined }))).rejects.toThrow('no value to look for in slug');
  });

  it('reach no row of another organization, in no way', async () => {
    const { id } = await add('emma');
    expect(await books.find(db, theirs, id)).toBeNull();
    await expect(books.get(db, theirs, 'emma')).rejects.toThrow('Book not found.');
    expect(await books.list(db, theirs, {}, { id: 'ASC' })).toEqual([]);
    expect(await books.page(db, theirs, {}, { id: 'ASC' }, { limit: 5 })).toEqual({ items: [], total: 0, more: false });
    expect(await books.count(db, theirs)).toBe(0);
    expect(await LIST.page(db, theirs, {}, {})).toEqual({ items: [], total: 0, more: false });
    expect(await LIST.find(db, theirs, id, {})).toBeNull();
    await inTx(async (tx) => {
      expect(await books.update(tx, theirs, id, { author: 'leo' })).toBeNull();
      expect(await books.update(tx, theirs, { id, org_id: ours.orgId }, { author: 'leo' })).toBeNull();
      expect(await books.delete(tx, theirs, id)).toBeNull();
      expect((await books.insert(tx, theirs, { slug: 'emma', org_id: ours.orgId })).org_id).toBe(theirs.orgId);
    });
    expect(await books.get(db, ours, id)).toMatchObject({ author: null, deleted_at: null });
  });

  it('write what is given and nothing else', async () => {
    const before = await add('emma', { author: 'jane', tags: ['a'] });
    const after = await inTx((tx) => books.update(tx, ours, 'emma', { author: null, slug: undefined, tags: ['b'] }));
    expect(after).toEqual({ ...before, author: null, tags: ['b'], updated_at: expect.any(Date) });
    expect(after!.updated_at.getTime()).toBeGreaterThan(before.updated_at.getTime());
    expect(await inTx((tx) => books.update(tx, ours, 'emma', { author: undefined }))).toEqual(after);
    expect(await inTx((tx) => books.update(tx, ours, 'anna', { author: 'leo' }))).toBeNull();
    expect((await inTx((tx) => books.update(tx, ours, 'emma', { price: () => '2 * 2.5' })))?.price).toBe('5.000000');
  });

  it('insert nothing where a row stands in the way, and leave the transaction whole', async () => {
    await add('emma');
    await inTx(async (tx) => {
      expect(await books.insertOrNothing(tx, ours, { slug: 'emma' })).toBeNull();
      expect(await books.insertOrNothing(tx, ours, { slug: 'anna' })).toMatchObject({ slug: 'anna' });
    });
    expect(await books.count(db, ours)).toBe(2);
  });

  it('insert under the first slug that is free, and refuse where none is', async () => {
    await add('emma');
    await add('anna', {}, theirs);
    const under = (slugs: string[], author: string) => inTx((tx) => books.insertUnder(tx, ours, slugs, { author }));
    expect(await under(['emma', 'anna', 'emma-2'], 'jane')).toMatchObject({ slug: 'anna', author: 'jane', org_id: ours.orgId });
    await expect(under(['emma', 'anna'], 'leo')).rejects.toMatchObject({ code: 'slug_taken' });
    const names = (await Promise.all(['a', 'b', 'c'].map((author) => under(['x', 'y', 'z'], author)))).map(({ slug }) => slug);
    expect(names.sort()).toEqual(['x', 'y', 'z']);
  });

  it('fail as statements do, with nothing of what was to be written', async () => {
    await add('emma');
    const error: object = await add('emma', { author: 'a secret' }).catch((caught: object) => caught);
    expect(error).toMatchObject({ code: '23505', constraint: 'books_slug' });
    expect(JSON.stringify({ ...error })).not.toContain('a secret');
  });

  it('delete softly what has a time for it, which is gone for everything then', async () => {
    const { id } = await add('emma');
    const gone = await inTx((tx) => books.delete(tx, ours, id));
    expect(gone).toMatchObject({ id, deleted_at: expect.any(Date) });
    await inTx(async (tx) => {
      expect(await books.find(tx, ours, id, 'for update')).toBeNull();
      expect(await books.update(tx, ours, id, { author: 'leo' })).toBeNull();
      expect(await books.delete(tx, ours, id)).toBeNull();
    });
    expect(await books.count(db, ours)).toBe(0);
    expect(await db.query(sql('SELECT author, deleted_at FROM books'))).toEqual([{ author: null, deleted_at: gone!.deleted_at }]);
    await inTx(async (tx) => {
      await settings.insert(tx, { name: 'a', place: 'here' });
      expect(await settings.delete(tx, { name: 'a', place: 'here' })).toMatchObject({ name: 'a' });
    });
    expect(await db.query(sql('SELECT * FROM settings'))).toEqual([]);
  });

  it('remove what has to be there, or say what is not', async () => {
    const { id } = await add('emma');
    await expect(inTx((tx) => books.remove(tx, theirs, id))).rejects.toEqual(new DomainError('not_found', 'Book not found.'));
    expect(await inTx((tx) => books.remove(tx, ours, id))).toMatchObject({ slug: 'emma', deleted_at: expect.any(Date) });
    await expect(inTx((tx) => books.remove(tx, ours, id))).rejects.toThrow('Book not found.');
    await expect(inTx((tx) => settings.remove(tx, { name: 'a', place: 'here' }))).rejects.toThrow('Ruling not found.');
  });

  it.each([
    ['for update', false],
    ['for no key update', true],
  ] as const)('lock %s; rows that refer to it may be written meanwhile: %s', async (lock, mayRefer) => {
    await add('emma');
    const tryLock = (mode: string) =>
      db.query(sql(`SELECT 1 FROM books WHERE slug = 'emma' FOR ${mode} NOWAIT`)).then(
        () => true,
        () => false,
      );
    await inTx(async (tx) => {
      await books.get(tx, ours, 'emma', lock);
      expect(await tryLock('NO KEY UPDATE')).toBe(false);
      expect(await tryLock('KEY SHARE')).toBe(mayRefer);
    });
    expect(await tryLock('UPDATE')).toBe(true);
  });

  describe('lists', () => {
    beforeEach(async () => {
      for (const slug of ['d', 'b', 'a', 'c']) await add(slug, { author: slug < 'c' ? 'jane' : null });
      await add('e', {}, theirs);
      await inTx(async (tx) => books.delete(tx, ours, (await books.insert(tx, ours, { slug: 'f' })).id));
    });

    const ways: Record<string, (slice: Slice) => Promise<Listed<{ slug: string }>>> = {
      'of a table': (slice) => books.page(db, ours, {}, { slug: 'ASC' }, slice),
      'that join': (slice) => LIST.page(db, ours, {}, slice),
    };
    describe.each(Object.entries(ways))('%s', (_, page) => {
      it.each([
        [{}, 'abcd', false],
        [{ limit: 3 }, 'abc', true],
        [{ limit: 4 }, 'abcd', false],
        [{ limit: 9 }, 'abcd', false],
        [{ limit: 1, offset: 2 }, 'c', true],
        [{ limit: 2, offset: 2 }, 'cd', false],
        [{ limit: 2, offset: 3 }, 'd', false],
        [{ offset: 1 }, 'bcd', false],
        [{ limit: 2, offset: 4 }, '', false],
        [{ offset: 99 }, '', false],
      ])('answer %j, how many there are in all, and whether there are more', async (slice, slugs, more) => {
        const { items, total, rest, ...said } = await page(slice);
        expect([items.map((item) => item.slug).join(''), total, said.more, rest]).toEqual([slugs, 4, more, undefined]);
      });

      describe('that are long', () => {
        const slugOf = (n: number) => `l${String(n).padStart(3, '0')}`;
        const LONG = Array.from({ length: 350 }, (_, n) => slugOf(n));
        const insert = (from: number, to: number) =>
          db.execute(
            sql(
              `INSERT INTO books (id, org_id, slug) SELECT gen_random_uuid(), $1, 'l' || lpad(n::text, 3, '0') FROM generate_series($2::int, $3::int) n`,
            ),
            [ours.orgId, from, to],
          );
        const slugs = (items: { slug: string }[]) => items.map(({ slug }) => slug);
        beforeEach(async () => {
          await db.execute(sql('TRUNCATE books'));
          await insert(0, 349);
        });

        it('are answered whole in batches, each row once and in order', async () => {
          for (const offset of [undefined, 0, 7, 120, 249]) {
            const { items, rest, more } = await page({ offset });
            const batches = [slugs(items)];
            for await (const batch of rest!) batches.push(slugs(batch));
            expect([batches.flat(), more]).toEqual([LONG.slice(offset), false]);
            expect(Math.max(...batches.map((batch) => batch.length))).toBe(50);
          }
        });

        it('are those that there were, without what has gone since, and as they are now', async () => {
          const { items, rest } = await page({});
          await insert(350, 360);
          await db.execute(sql(`DELETE FROM books WHERE slug IN ('l000', 'l150', 'l349')`));
          await db.execute(sql(`UPDATE books SET deleted_at = now() WHERE slug = 'l200'`));
          await db.execute(sql(`UPDATE books SET org_id = $1 WHERE slug = 'l201'`), [theirs.orgId]);
          await db.execute(sql(`UPDATE books SET slug = 'l2020' WHERE slug = 'l202'`));
          const all = [...items];
          for await (const batch of rest!) all.push(...batch);
          const kept = LONG.filter((slug) => !['l150', 'l200', 'l201', 'l349'].includes(slug));
          expect(slugs(all)).toEqual(kept.map((slug) => (slug === 'l202' ? 'l2020' : slug)));
        });

        it('may lose whole batches, and all there is', async () => {
          const { items, rest } = await page({});
          await db.execute(sql(`DELETE FROM books WHERE slug >= 'l100' AND slug < 'l300'`));
          const all = [...items];
          for await (const batch of rest!) all.push(...batch);
          expect(slugs(all)).toEqual([...LONG.slice(0, 100), ...LONG.slice(300)]);
        });

        const large = new OrgTable(Book, 'Book', undefined, 'large');

        it('are held whole in a page that is light, where their rows may be large', async () => {
          for (const slice of [{ limit: 5 }, { limit: 100, offset: 250 }, { offset: 251 }, { limit: 5, offset: 350 }]) {
            const list = await large.page(db, ours, {}, { slug: 'ASC' }, slice);
            const { limit = 350, offset }: Slice = slice;
            expect([slugs(list.items), list.total, list.rest]).toEqual([LONG.slice(offset ?? 0, (offset ?? 0) + limit), 350, undefined]);
          }
          const list = await large.page(db, ours, {}, { slug: 'ASC' }, { offset: 249 });
          const read: string[][] = [];
          for await (const batch of batchesOf(list)) read.push(slugs(batch));
          expect([read.flat(), Math.max(...read.map(({ length }) => length))]).toEqual([LONG.slice(249), 4]);
        });

        it('are no longer held whole in a page that is heavy', async () => {
          await db.execute(sql(`UPDATE books SET author = repeat('x', 300000)`));
          const pageOf = (slice: Slice) => large.page(db, ours, {}, { slug: 'ASC' }, slice);
          for (const [slice, batches, more] of [
            [{ limit: 4 }, [4], true],
            [{ limit: 5 }, [4, 1], true],
            [{ limit: 10, offset: 339 }, [4, 4, 2], true],
            [{ limit: 10, offset: 340 }, [4, 4, 2], false],
            [{ limit: 100, offset: 343 }, [4, 3], false],
            [{ limit: 100, offset: 346 }, [4], false],
            [{ offset: 341 }, [4, 4, 1], false],
          ] as const) {
            const list = await pageOf(slice);
            expect([list.total, list.more]).toEqual([350, more]);
            const { limit = 350, offset = 0 }: Slice = slice;
            const read: string[][] = [];
            for await (const batch of batchesOf(list)) read.push(slugs(batch));
            expect([read.map((batch) => batch.length), read.flat()]).toEqual([batches, LONG.slice(offset, offset + limit)]);
          }
          // What comes in between moves no row from one batch to the next.
          const list = await pageOf({ limit: 10 });
          await db.execute(sql(`DELETE FROM books WHERE slug IN ('l001', 'l006')`));
          await db.execute(sql(`UPDATE books SET slug = 'a' WHERE slug = 'l300'`));
          const read: string[] = [];
          for await (const batch of batchesOf(list)) read.push(...slugs(batch));
          expect(read).toEqual(LONG.slice(0, 10).filter((slug) => slug !== 'l006'));
        });

        it('are mapped batch by batch', async () => {
          const { items, rest, total, more } = await mapListed(await page({}), async (batch) =>
            batch.map(({ slug }) => slug.toUpperCase()),
          );
          const all = [...items];
          for await (const batch of rest!) all.push(...batch);
          expect([all, total, more]).toEqual([LONG.map((slug) => slug.toUpperCase()), 350, false]);
        });

        it('hold no connection between batches, and fail where they are read', async () => {
          const { rest } = await page({});
          expect(db.poolStats().idle).toBe(db.poolStats().total);
          await db.execute(sql('ALTER TABLE books RENAME TO gone'));
          try {
            await expect(async () => {
              for await (const _ of rest!);
            }).rejects.toThrow();
          } finally {
            await db.execute(sql('ALTER TABLE gone RENAME TO books'));
          }
        });
      });
    });

    it('are narrowed by what is asked for', async () => {
      const slugs = async (values: Parameters<typeof LIST.list>[2]) => (await LIST.list(db, ours, values)).map((row) => row.slug).join('');
      expect(await slugs({ author: 'jane' })).toBe('ab');
      expect(await slugs({ untitled: true })).toBe('cd');
      expect(await slugs({ untitled: false })).toBe('abcd');
      expect(await slugs({ slugs: ['b', 'c'] })).toBe('bc');
      expect(await slugs({ slugs: ['b', 'c'], author: 'jane' })).toBe('b');
      expect(await LIST.page(db, ours, { author: 'jane', slugs: ['a', 'b'] }, { limit: 1 })).toMatchObject({ total: 2 });
      expect((await books.list(db, ours, { author: null }, { slug: 'DESC' })).map((row) => row.slug)).toEqual(['d', 'c']);
    });

    it('find one row by its key or slug, where it would be listed', async () => {
      const { id } = await books.get(db, ours, 'a');
      for (const ref of [id, 'a']) expect(await LIST.get(db, ours, ref, {})).toEqual({ id, slug: 'a', loud: 'A' });
      for (const ref of ['x', '', "'"]) expect(await LIST.find(db, ours, ref, {})).toBeNull();
      await expect(LIST.get(db, ours, id, { untitled: true })).rejects.toThrow('Book not found.');
    });
  });
});
