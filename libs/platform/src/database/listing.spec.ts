import { Listing, type ListingOptions } from './listing';

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
