import { isUuid, notFound } from '@aps/contracts';
import type { Db } from './database';
import { heavy, listed, listedInBatches, sliceBounds, type Listed, type Slice } from './lists';
import { statement, type Statement } from './statement';
import type { Tenant } from './tables';

/** A list that joins, in pieces of SQL. */
interface Pieces {
  /** The column that tells the rows apart, e.g. `m.id`. */
  key: string;
  /** Where rows have slugs: their column, e.g. `a.slug`. */
  slug?: string;
  /** Keys are texts, a prefix and a ULID, and no UUIDs. */
  prefixed?: boolean;
  select: string;
  /** Tables with their joins. */
  from: string;
  /** Those of them that conditions and order speak of, where the others only add columns: rows are found and counted without those. */
  found?: string;
  /** What holds for every row. */
  always?: string;
  order: string;
}

/**
 * A condition; or several that exclude each other, of which one must hold. What each of those finds lies together in an index, so the first
 * rows of a page are among the first of each.
 */
type Condition = string | readonly string[];

/** Conditions of a filter that takes an id or `none`. */
interface IdOrNone {
  id: string;
  none: string;
}

/** @param none what stands in the column for none; else it is null */
export const idOrNone = (column: string, none?: string): IdOrNone => ({
  id: `${column} = $`,
  none: none === undefined ? `${column} IS NULL` : `${column} = '${none}'`,
});

export interface ListingOptions<Values> extends Pieces {
  /** Conditions by the name of their value, for which `$` stands; one without a `$` holds where its value is true. */
  where?: { readonly [V in keyof Values]-?: Condition | IdOrNone };
  /** A tally of the rows: the total is the sum of its `n`, where it knows every value that is looked for. */
  tally?: { from: string; where: { readonly [V in keyof Values]?: Condition | IdOrNone } };
  /** Names a row in a 404. */
  what?: string;
  /** They may have half a megabyte or more: a page is weighed before it is read, and of heavy ones only a few are held at a time. */
  rows?: 'large';
}

interface Statements<Row> {
  all: Statement<Row>;
  /** Its rows carry the total besides, and keep it: to copy them without costs more than to count. */
  page: Statement<Row>;
  /** Of large rows: whether a page of them is heavy. */
  heavy: Statement<{ heavy: boolean }> | null;
  /** The keys of a page, or of every row after so many, in order, and so many of them to a row, as text: nobody but PostgreSQL reads them. */
  keys: Statement<{ keys: string }>;
  /** The rows of such a text that are still found. */
  byKeys: Statement<Row>;
  byKey: Statement<Row>;
  bySlug: Statement<Row> | null;
  count: Statement<{ total: number }>;
}

/**
 * Rows that are read from several tables, as pages or one by one. Only conditions that have a value stand in a query, so each can have
 * its index. A constant of its file, like a statement.
 *
 * @typeParam Values what is looked for; what may be undefined is a filter
 */
export class Listing<Row, Values extends object> {
  /** With every condition: what the check of all statements looks at. */
  readonly full: Statements<Row>;
  private readonly made = new Map<string, Statements<Row>>();
  private readonly where: Record<string, Condition>;
  private readonly tallied: Record<string, Condition>;

  constructor(private readonly options: ListingOptions<Values>) {
    this.where = eachByName(options.where);
    this.tallied = eachByName(options.tally?.where);
    this.full = this.statementsFor(Object.keys(this.where));
  }

  /**
   * Without a limit it is every row. Of what is read in batches, which rows, and in what order, is as of one moment, and each is as it is when
   * its batch is read. Those that are no longer found by then are left out.
   */
  page(db: Db, values: Values, slice: Slice): Promise<Listed<Row>> {
    const { statements, bound } = this.having(values);
    const count = async () => (await db.query(statements.count, bound))[0].total;
    return listedInBatches(
      slice,
      (part) => listed(part, db.query(statements.page, [...bound, ...sliceBounds(part)]), count),
      async function* (offset, size, limit) {
        const batches = await db.query(statements.keys, [...bound, limit ?? null, offset, size]);
        for (const { keys } of batches) yield db.query(statements.byKeys, [...bound, keys]);
      },
      statements.heavy ? async (part) => (await db.query(statements.heavy!, [...bound, ...sliceBounds(part)]))[0].heavy : undefined,
    );
  }

  /** Every row. */
  list(db: Db, values: Values): Promise<Row[]> {
    const { statements, bound } = this.having(values);
    return db.query(statements.all, bound);
  }

  /**
   * One row, where the values let it through.
   *
   * @param ref its key, or its slug
   */
  async find(db: Db, ref: string, values: Values): Promise<Row | null> {
    const { statements, bound } = this.having(values);
    const one = isUuid(ref) || this.options.prefixed ? statements.byKey : statements.bySlug;
    return one ? ((await db.query(one, [...bound, ref]))[0] ?? null) : null;
  }

  /** @throws DomainError `not_found` */
  async get(db: Db, ref: string, values: Values): Promise<Row> {
    const row = await this.find(db, ref, values);
    if (!row) throw notFound(this.options.what ?? 'Row');
    return row;
  }

  private having(values: Values): { statements: Statements<Row>; bound: unknown[] } {
    const given = Object.fromEntries(
      Object.entries(values as Record<string, unknown>).map(([name, value]) =>
        value === 'none' && noneOf(name) in this.where ? [noneOf(name), true] : [name, value],
      ),
    );
    const looked = Object.entries(this.where)
      .map(([name, sql]) => ({ name, bound: takesValue(sql), value: given[name] }))
      .filter(({ bound, value }) => (bound ? value !== undefined : value === true));
    const names = looked.map(({ name }) => name);
    let statements = this.made.get(names.join());
    if (!statements) this.made.set(names.join(), (statements = this.statementsFor(names)));
    return { statements, bound: looked.filter(({ bound }) => bound).map(({ value }) => value) };
  }

  private statementsFor(names: string[]): Statements<Row> {
    const { key, slug, select, from, found = from, always, order, rows: size } = this.options;
    const conditions = numbered(names.map((name) => this.where[name]));
    const held = allOf([always, ...conditions.map(oneOf)]);
    const rows = `SELECT ${select} FROM ${from} WHERE ${held}`;
    // For rows whose keys are known: the conditions again, so that no row gets in by a key that is not its alone. So that no index serves them,
    // which a plan for any value may take for better than the keys; unless they are what joins the tables.
    const still = found === from && from.includes(' JOIN ') ? held : `(${held}) IS TRUE`;
    const count =
      this.talliedFor(names) ?? added(conditions, (range) => `SELECT count(*) FROM ${found} WHERE ${allOf([always, ...range])}`);
    const next = 1 + names.filter((name) => takesValue(this.where[name])).length;
    const keys = this.keysOf(conditions, `$${next}`, `$${next + 1}`);
    const batch = `(place - 1) / $${next + 2}::int`;
    return {
      all: statement<Row>(`${rows} ORDER BY ${order}`),
      // The keys first: what is selected, and only joined for that, is looked up for the rows of the page and not for those before it.
      page: statement<Row>(
        `SELECT ${select}, (${count}) AS total FROM ${from} WHERE ${key} = ANY (ARRAY(${keys})) AND ${still} ORDER BY ${order}`,
      ),
      heavy: size ? statement<{ heavy: boolean }>(heavy(key.split('.')[0], `${found} WHERE ${key} = ANY (ARRAY(${keys}))`)) : null,
      keys: statement<{ keys: string }>(
        `SELECT array_agg(key ORDER BY place)::text AS keys FROM unnest(ARRAY(${keys})) WITH ORDINALITY AS found(key, place) GROUP BY ${batch} ORDER BY ${batch}`,
      ),
      byKeys: statement<Row>(`SELECT ${select} FROM ${from} WHERE ${key} = ANY ($${next}) AND ${still} ORDER BY ${order}`),
      byKey: statement<Row>(`${rows} AND ${key} = $${next}`),
      bySlug: slug === undefined ? null : statement<Row>(`${rows} AND ${slug} = $${next}`),
      count: statement<{ total: number }>(count),
    };
  }

  /** The keys of a page. Of ranges each gives as many as the page could need of it. */
  private keysOf(conditions: Condition[], limit: string, offset: string): string {
    const { key, from, found = from, always, order } = this.options;
    const first = (selected: string, held: string[], bounds: string) =>
      `SELECT ${selected} FROM ${found} WHERE ${allOf([always, ...held])} ORDER BY ${order} ${bounds}`;
    const ranges = apart(conditions);
    if (ranges.length === 1) return first(`${key} AS key`, ranges[0], `LIMIT ${limit} OFFSET ${offset}`);
    // What is ordered by travels with the keys.
    const by = order
      .split(', ')
      .map((column, i) => ({ column: column.replace(/ DESC$/, ''), name: `by${i}`, way: / DESC$/.exec(column)?.[0] ?? '' }));
    const selected = [`${key} AS key`, ...by.map(({ column, name }) => `${column} AS ${name}`)].join(', ');
    const firsts = ranges.map((held) => `(${first(selected, held, `LIMIT ${limit}::bigint + ${offset}::bigint`)})`);
    const inOrder = by.map(({ name, way }) => name + way).join(', ');
    return `SELECT key FROM (${firsts.join(' UNION ALL ')}) found ORDER BY ${inOrder} LIMIT ${limit} OFFSET ${offset}`;
  }

  /** The total by the tally, where that knows all that is looked for. */
  private talliedFor(names: string[]): string | undefined {
    const { tally } = this.options;
    if (!tally || !names.every((name) => name in this.tallied)) return undefined;
    const conditions = names.map((name) => this.tallied[name]);
    // Both have the values at the same places.
    const odd = names.find((name, i) => takesValue(this.where[name]) !== takesValue(conditions[i]));
    if (odd !== undefined) throw new Error(`The tally takes another value for ${odd} than the rows.`);
    return added(numbered(conditions), (range) => `SELECT coalesce(sum(n), 0) FROM ${tally.from} WHERE ${allOf(range)}`);
  }
}

const noneOf = (name: string): string => `no ${name}`;

/** Each condition by the name of its value, and that of none by a name of its own. */
const eachByName = (where: object = {}): Record<string, Condition> =>
  Object.fromEntries(
    Object.entries(where as Record<string, Condition | IdOrNone>).flatMap(([name, sql]): [string, Condition][] =>
      typeof sql === 'object' && 'none' in sql ? Object.entries({ [name]: sql.id, [noneOf(name)]: sql.none }) : [[name, sql]],
    ),
  );

const takesValue = (condition: Condition): boolean => [condition].flat().some((sql) => sql.includes('$'));

/** Each condition with the number of its value. */
function numbered(conditions: Condition[]): Condition[] {
  let values = 0;
  return conditions.map((condition) => {
    const place = takesValue(condition) ? `$${++values}` : '';
    const placed = (sql: string) => sql.replaceAll('$', place);
    return typeof condition === 'string' ? placed(condition) : condition.map(placed);
  });
}

/** The conditions with each range of the one that has several. */
function apart(conditions: Condition[]): string[][] {
  const ranged = conditions.find((condition) => typeof condition !== 'string');
  return [ranged ?? ''].flat().map((range) => conditions.map((condition) => (condition === ranged ? range : oneOf(condition))));
}

/** The total of what each range finds by itself: a plan for any value may find no index for all of them. */
const added = (conditions: Condition[], of: (range: string[]) => string): string =>
  `SELECT (${apart(conditions)
    .map((range) => `(${of(range)})`)
    .join(' + ')})::int AS total`;

const oneOf = (condition: Condition): string => [condition].flat().join(' OR ');
const allOf = (conditions: (string | undefined)[]): string =>
  conditions.flatMap((condition) => (condition ? [`(${condition})`] : [])).join(' AND ') || 'true';

type OfOrg = { org_id: string };

/** The same for rows that belong to an organization. */
export class OrgListing<Row, Values extends object> {
  private readonly rows: Listing<Row, Values & OfOrg>;

  /** @param options.org the column of the organization, e.g. `m.org_id` */
  constructor({ org, ...options }: ListingOptions<Values> & { org: string }) {
    const where = { ...options.where, org_id: `${org} = $` } as ListingOptions<Values & OfOrg>['where'];
    // A tally has the organization as its rows have it.
    const tally = options.tally && { ...options.tally, where: { ...options.tally.where, org_id: 'org_id = $' } };
    this.rows = new Listing<Row, Values & OfOrg>({ ...options, where, tally } as ListingOptions<Values & OfOrg>);
  }

  page(db: Db, scope: Tenant, values: Values, slice: Slice): Promise<Listed<Row>> {
    return this.rows.page(db, own(scope, values), slice);
  }

  list(db: Db, scope: Tenant, values: Values): Promise<Row[]> {
    return this.rows.list(db, own(scope, values));
  }

  find(db: Db, scope: Tenant, ref: string, values: Values): Promise<Row | null> {
    return this.rows.find(db, ref, own(scope, values));
  }

  /** @throws DomainError `not_found` */
  get(db: Db, scope: Tenant, ref: string, values: Values): Promise<Row> {
    return this.rows.get(db, ref, own(scope, values));
  }
}

const own = <Values>(scope: Tenant, values: Values) => ({ ...values, org_id: scope.orgId });
