import { idOrNone, Listing, type ListingOptions } from './listing';

type Values = { seen_by?: string; kind?: string };
const OPTIONS: ListingOptions<Values> = {
  key: 'x.id',
  select: 'x.*',
  from: 'things x',
  where: { seen_by: [`x.private_to = 'everyone'`, 'x.private_to = $'], kind: 'x.kind = $' },
  tally: { from: 'thing_tallies t', where: { seen_by: [`t.private_to = 'everyone'`, 't.private_to = $'] } },
  order: 'x.name, x.id DESC',
};

describe('a listing', () => {
  it('takes the first of each range, and its total of the tally where that knows all that is looked for', () => {
    const { page, count } = new Listing<object, Pick<Values, 'seen_by'>>(OPTIONS as never).full;
    const text = page.text.replace(/\s+/g, ' ');
    expect(text).toContain(
      `SELECT key FROM ((SELECT x.id AS key, x.name AS by0, x.id AS by1 FROM things x WHERE (x.private_to = 'everyone') AND (x.kind = $2) ORDER BY x.name, x.id DESC LIMIT $3::bigint + $4::bigint) UNION ALL (SELECT`,
    );
    expect(text).toContain('ORDER BY x.name, x.id DESC LIMIT $3::bigint + $4::bigint)) found ORDER BY by0, by1 DESC LIMIT $3 OFFSET $4');
    // The tally does not know the kind.
    expect(count.text).toBe(
      `SELECT ((SELECT count(*) FROM things x WHERE (x.private_to = 'everyone') AND (x.kind = $2)) + (SELECT count(*) FROM things x WHERE (x.private_to = $1) AND (x.kind = $2)))::int AS total`,
    );
    const known = new Listing<object, Values>({
      ...OPTIONS,
      tally: { ...OPTIONS.tally!, where: { ...OPTIONS.tally!.where, kind: 't.kind = $' } },
    }).full;
    expect(known.count.text).toBe(
      `SELECT ((SELECT coalesce(sum(n), 0) FROM thing_tallies t WHERE (t.private_to = 'everyone') AND (t.kind = $2)) + (SELECT coalesce(sum(n), 0) FROM thing_tallies t WHERE (t.private_to = $1) AND (t.kind = $2)))::int AS total`,
    );
  });

  it('tells an id from none, in the rows and in their tally', async () => {
    const listing = new Listing<object, { owner?: string }>({
      ...OPTIONS,
      where: { owner: idOrNone('x.owner_id') },
      tally: { from: 'thing_tallies t', where: { owner: idOrNone('t.of_id', 'nobody') } },
    });
    const asked: [string, unknown[]][] = [];
    const db = { query: ({ text }: { text: string }, values: unknown[]) => (asked.push([text, values]), Promise.resolve([])) } as never;
    for (const owner of ['o1', 'none', undefined]) await listing.page(db, { owner }, { limit: 1 });
    const [one, none, any] = asked.map(([text]) => text);
    expect(asked.map(([, values]) => values)).toEqual([
      ['o1', 2, 0],
      [2, 0],
      [2, 0],
    ]);
    expect(one).toContain(`WHERE (x.owner_id = $1) ORDER BY`);
    expect(one).toContain(`FROM thing_tallies t WHERE (t.of_id = $1)`);
    expect(none).toContain('WHERE (x.owner_id IS NULL) ORDER BY');
    expect(none).toContain(`FROM thing_tallies t WHERE (t.of_id = 'nobody')`);
    expect(any).not.toContain('owner_id');
  });

  it('joins what only adds columns to the rows of the page alone', () => {
    const from = 'things x JOIN owners o ON o.id = x.owner_id';
    const { page, keys, count } = new Listing<object, { kind?: string }>({
      ...OPTIONS,
      from,
      found: 'things x',
      where: { kind: 'x.kind = $' },
      tally: undefined,
    }).full;
    expect(page.text).toContain(`FROM ${from} WHERE x.id = ANY (ARRAY(SELECT x.id AS key FROM things x WHERE (x.kind = $1)`);
    for (const { text } of [keys, count]) expect(text).not.toContain('owners');
  });

  it.each<[string, Partial<ListingOptions<Values>>]>([
    ['a tally that takes a value where the rows take none', { tally: { from: 't', where: { seen_by: 't.private_to = $', kind: 'true' } } }],
  ])('refuses %s', (_, odd) => expect(() => new Listing<object, Values>({ ...OPTIONS, ...odd })).toThrow());
});
