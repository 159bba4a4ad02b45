import { isUuid, notFound } from '@aps/contracts';
import { getMetadataArgsStorage, In, IsNull, QueryFailedError, FindOperator, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { uuidv7 } from 'uuidv7';
import type { Db, Tx } from './database';
import { Listing, type ListingOptions } from './listing';
import type { Listed, Slice } from './lists';
import { takingSlug } from './slugs';
import { statement, type Statement } from './statement';

/** Whose rows are meant. Nominal: what merely has an `orgId` is none, so no organization is ever taken from input. */
export abstract class Tenant {
  declare protected readonly nominal: true;
  abstract readonly orgId: string;
}

/** Columns and what they equal; null finds null. TypeORM's operators (`In`, `MoreThan` …) say more. */
export type Where<E> = { readonly [C in keyof E]?: E[C] | FindOperator<E[C]> };

/** Columns and what they equal; null finds null. */
export type Equal<E> = { readonly [C in keyof E]?: E[C] };

/** One row: its id; where the entity has slugs, its slug just as well; or columns that only one row can have. */
export type Key<E> = string | Where<E>;

/** Columns to write. Those that are undefined are left alone; a function returns SQL. */
export type Columns<E> = { readonly [C in keyof E]?: E[C] | (() => string) };

export type Order<E> = { readonly [C in keyof E]?: 'ASC' | 'DESC' };

const LOCK_MODES = {
  'for key share': 'for_key_share',
  'for no key update': 'for_no_key_update',
  'for update': 'pessimistic_write',
} as const;

/**
 * `FOR KEY SHARE` keeps the row for what refers to it. `FOR NO KEY UPDATE` lets others still refer to the row; `FOR UPDATE` is for ending that, by
 * deleting it or changing its name.
 */
export type Lock = keyof typeof LOCK_MODES;

/** SQL for this moment: later than the locks that were waited for, unlike now(), and one for all columns of a row, unlike clock_timestamp(). */
export const now = (): string => 'statement_timestamp()';

type Query<E extends ObjectLiteral> = SelectQueryBuilder<E>;
type EntityClass<E> = (new () => E) & { readonly name: string };
/** As of a {@link Listing}, by columns, and by those that are null. */
export interface TableTally<E> {
  from: string;
  where: { readonly [C in keyof E & string as C | `${C} IS NULL`]?: string };
}

/** An entity whose rows each belong to an organization; where one may belong to none, only the organization's own are meant. */
type OfAnOrganization = { org_id: string | null };

/**
 * Rows of an entity that belongs to no organization. What was deleted softly is not there for any method.
 *
 * For joins there is {@link Listing}; what is hot, or decides by more than equal columns, is a statement.
 */
export class Table<E extends ObjectLiteral> {
  private readonly columns: ReadonlySet<string>;
  private readonly deletedSoftly: boolean;
  /** Its ids are texts, a prefix and a ULID, and no UUIDs. */
  private readonly prefixed: boolean;
  private readonly statements = new Map<string, Statement>();
  /** By their order. */
  private readonly listings = new Map<string, Listing<E, Record<string, unknown>>>();

  /**
   * @param what names it in a 404
   * @param tally gives the totals of pages
   * @param size as `rows` of a {@link Listing}
   */
  constructor(
    private readonly entity: EntityClass<E> & (E extends { org_id: string } ? never : unknown),
    private readonly what: string = entity.name,
    private readonly tally?: TableTally<E>,
    private readonly size?: 'large',
  ) {
    const columns = getMetadataArgsStorage().filterColumns(withParents(entity));
    this.columns = new Set(columns.map(({ propertyName }) => propertyName));
    this.deletedSoftly = columns.some(({ mode }) => mode === 'deleteDate');
    this.prefixed = columns.some(({ propertyName, options }) => propertyName === 'id' && options.type === 'text');
  }

  async find(db: Db, key: Key<E>, lock?: Lock): Promise<E | null> {
    const one = (rows: Query<E>) => (lock ? rows.limit(1).setLock(LOCK_MODES[lock]) : rows.limit(1));
    return (await this.read<E>(db, `one ${lock}`, this.where(key), one))[0] ?? null;
  }

  /** @throws DomainError `not_found` */
  async get(db: Db, key: Key<E>, lock?: Lock): Promise<E> {
    const row = await this.find(db, key, lock);
    if (!row) throw notFound(this.what);
    return row;
  }

  /** Every row with these columns, or the first of them. */
  list(db: Db, where: Where<E>, order: Order<E>, limit?: number): Promise<E[]> {
    return this.read<E>(db, `by ${JSON.stringify(order)}`, this.where(where), inOrder(order), [limit ?? null, 0]);
  }

  /** Of an entity whose key is `id`. {@link Listing.page} says more. @param where columns that equal a value, or are null */
  page(db: Db, where: Equal<E>, order: Order<E>, slice: Slice): Promise<Listed<E>> {
    const values = Object.entries<unknown>(this.where(where)).map(([column, value]) =>
      value instanceof FindOperator ? [`${column} IS NULL`, true] : [column, value],
    );
    return this.listing(order).page(db, Object.fromEntries(values) as Record<string, unknown>, slice);
  }

  async count(db: Db, where: Where<E>): Promise<number> {
    return (await this.read<{ total: number }>(db, 'count', this.where(where), counted))[0].total;
  }

  /** Without an `id` it gets a new one. @returns the row with all that the database has filled in */
  async insert(tx: Tx, columns: Columns<E>): Promise<E> {
    return (await first<E>(this.inserting(tx, columns).execute()))!;
  }

  /** @returns null where another row stands in the way; then nothing is written */
  async insertOrNothing(tx: Tx, columns: Columns<E>): Promise<E | null> {
    return first<E>(this.inserting(tx, columns).orIgnore().execute());
  }

  /** Writes what is given, and when. @returns the row as it is then, null where there is none */
  async update(tx: Tx, key: Key<E>, columns: Columns<E>): Promise<E | null> {
    const given = Object.entries(columns).filter(([, value]) => value !== undefined);
    if (!given.length) return this.find(tx, key);
    const where = this.where(this.deletedSoftly ? { ...this.where(key), deleted_at: null } : key);
    const values = { ...this.filled('updated_at'), ...Object.fromEntries(given) } as unknown as QueryDeepPartialEntity<E>;
    return first<E>(tx.manager.createQueryBuilder().update<E>(this.entity).set(values).where(where).returning('*').execute());
  }

  /** Softly, where the entity is deleted so. @returns the row that is gone, null where there was none */
  async delete(tx: Tx, key: Key<E>): Promise<E | null> {
    if (this.deletedSoftly) return this.update(tx, key, { deleted_at: now } as unknown as Columns<E>);
    return first<E>(tx.manager.createQueryBuilder().delete().from<E>(this.entity).where(this.where(key)).returning('*').execute());
  }

  /** {@link delete} of what has to be there. @throws DomainError `not_found` */
  async remove(tx: Tx, key: Key<E>): Promise<E> {
    const row = await this.delete(tx, key);
    if (!row) throw notFound(this.what);
    return row;
  }

  /** The columns that a key stands for. */
  where(key: Key<E>): Where<E> {
    if (typeof key !== 'string')
      return Object.fromEntries(Object.entries(key).map(([column, value]) => [column, sought(column, value)])) as Where<E>;
    if (this.prefixed) return { id: key } as unknown as Where<E>;
    if (!isUuid(key) && this.columns.has('slug')) return { slug: key } as unknown as Where<E>;
    // What has not the form of an id is nobody's, and no error of the database's.
    return { id: isUuid(key) ? key : In([]) } as unknown as Where<E>;
  }

  /**
   * TypeORM writes the SQL of each kind of query once; from then on it is a prepared statement. Rows are as the driver reads them: to
   * make objects of them costs more than to read them.
   */
  private read<Row>(db: Db, kind: string, where: Where<E>, build: (rows: Query<E>) => Query<E>, slice: unknown[] = []): Promise<Row[]> {
    const values = Object.values<unknown>(where);
    // But for null, what an operator looks like follows from its value.
    const isPlain = values.every((value) => !(value instanceof FindOperator) || value.type === 'isNull');
    const shape = `${kind} ${Object.entries(where)
      .map(([column, value]) => (value instanceof FindOperator ? `${column} null` : column))
      .join()}`;
    const known = isPlain && this.statements.get(shape);
    if (known) return db.query(known as Statement<Row>, [...values.filter((value) => !(value instanceof FindOperator)), ...slice]);
    const rows = db.manager.createQueryBuilder<E>(this.entity, 'row').select('row.*').where(where);
    const [text, parameters] = build(rows).getQueryAndParameters() as [string, unknown[]];
    const made = statement<Row>(slice.length ? `${text} LIMIT $${parameters.length + 1} OFFSET $${parameters.length + 2}` : text);
    if (isPlain) this.statements.set(shape, made);
    return db.query(made, [...parameters, ...slice]);
  }

  private listing(order: Order<E>): Listing<E, Record<string, unknown>> {
    const known = this.listings.get(JSON.stringify(order));
    if (known) return known;
    const conditions = [...this.columns].flatMap((column) => [
      [column, `t.${column} = $`],
      [`${column} IS NULL`, `t.${column} IS NULL`],
    ]);
    const made = new Listing<E, Record<string, unknown>>({
      key: 't.id',
      select: 't.*',
      from: `${getMetadataArgsStorage().filterTables(this.entity)[0].name} t`,
      always: this.deletedSoftly ? 't.deleted_at IS NULL' : undefined,
      where: Object.fromEntries(conditions) as Record<string, string>,
      tally: this.tally as ListingOptions<Record<string, unknown>>['tally'],
      order: Object.entries(order)
        .map(([column, way]) => `t.${column} ${way as string}`)
        .join(', '),
      rows: this.size,
    });
    this.listings.set(JSON.stringify(order), made);
    return made;
  }

  private inserting(tx: Tx, columns: Columns<E>) {
    const id = this.columns.has('id') ? { id: uuidv7() } : {};
    const values = {
      ...id,
      ...this.filled('created_at'),
      ...this.filled('updated_at'),
      ...columns,
    } as unknown as QueryDeepPartialEntity<E>;
    return tx.manager.createQueryBuilder().insert().into<E>(this.entity).values(values).returning('*').updateEntity(false);
  }

  private filled(column: string): Record<string, () => string> {
    return this.columns.has(column) ? { [column]: now } : {};
  }
}

/** Rows of an entity that belongs to an organization: like {@link Table}, and no method reaches those of another. */
export class OrgTable<E extends ObjectLiteral> {
  private readonly rows: Table<E>;

  /**
   * @param what names it in a 404
   * @param tally gives the totals of pages; it has the organization as the rows have it
   * @param size as `rows` of a {@link Listing}
   */
  constructor(
    entity: EntityClass<E> & (E extends OfAnOrganization ? unknown : never),
    what?: string,
    tally?: TableTally<E>,
    size?: 'large',
  ) {
    const ofOrg = tally && { ...tally, where: { ...tally.where, org_id: 'org_id = $' } };
    this.rows = new Table<E>(entity as never, what ?? entity.name, ofOrg, size);
  }

  find(db: Db, scope: Tenant, key: Key<E>, lock?: Lock): Promise<E | null> {
    return this.rows.find(db, this.own(scope, key), lock);
  }

  /** @throws DomainError `not_found` */
  get(db: Db, scope: Tenant, key: Key<E>, lock?: Lock): Promise<E> {
    return this.rows.get(db, this.own(scope, key), lock);
  }

  /** Every row with these columns, or the first of them. */
  list(db: Db, scope: Tenant, where: Where<E>, order: Order<E>, limit?: number): Promise<E[]> {
    return this.rows.list(db, this.own(scope, where), order, limit);
  }

  /** Of an entity whose key is `id`. {@link Listing.page} says more. @param where columns that equal a value, or are null */
  page(db: Db, scope: Tenant, where: Equal<E>, order: Order<E>, slice: Slice): Promise<Listed<E>> {
    return this.rows.page(db, { ...where, org_id: scope.orgId }, order, slice);
  }

  count(db: Db, scope: Tenant, where: Where<E> = {}): Promise<number> {
    return this.rows.count(db, this.own(scope, where));
  }

  /** Without an `id` it gets a new one. @returns the row with all that the database has filled in */
  insert(tx: Tx, scope: Tenant, columns: Columns<E>): Promise<E> {
    return this.rows.insert(tx, { ...columns, org_id: scope.orgId });
  }

  /** @returns null where another row stands in the way; then nothing is written */
  insertOrNothing(tx: Tx, scope: Tenant, columns: Columns<E>): Promise<E | null> {
    return this.rows.insertOrNothing(tx, { ...columns, org_id: scope.orgId });
  }

  /** Inserts a row under the first of some slugs that is free. @param slugs those of `slugsFor` @throws DomainError `slug_taken` */
  async insertUnder(tx: Tx, scope: Tenant, slugs: string[], columns: Columns<E>): Promise<E> {
    const taken = await this.list(tx, scope, { slug: In(slugs) } as Where<E>, {});
    return takingSlug(slugs, taken as unknown as { slug: string }[], (slug) => this.insertOrNothing(tx, scope, { ...columns, slug }));
  }

  /** Writes what is given, and when. @returns the row as it is then, null where there is none */
  update(tx: Tx, scope: Tenant, key: Key<E>, columns: Columns<E>): Promise<E | null> {
    return this.rows.update(tx, this.own(scope, key), columns);
  }

  /** Softly, where the entity is deleted so. @returns the row that is gone, null where there was none */
  delete(tx: Tx, scope: Tenant, key: Key<E>): Promise<E | null> {
    return this.rows.delete(tx, this.own(scope, key));
  }

  /** {@link delete} of what has to be there. @throws DomainError `not_found` */
  remove(tx: Tx, scope: Tenant, key: Key<E>): Promise<E> {
    return this.rows.remove(tx, this.own(scope, key));
  }

  private own(scope: Tenant, key: Key<E>): Where<E> {
    return { ...this.rows.where(key), org_id: scope.orgId };
  }
}

/** A class with those that it extends, whose columns it has, too. */
const withParents = (entity: object): (new () => unknown)[] =>
  entity === Function.prototype ? [] : [entity as new () => unknown, ...withParents(Object.getPrototypeOf(entity) as object)];

const inOrder =
  <E extends ObjectLiteral>(order: Order<E>) =>
  (rows: Query<E>): Query<E> =>
    Object.entries(order).reduce((sorted, [column, way]) => sorted.addOrderBy(`row.${column}`, way), rows);

const counted = <E extends ObjectLiteral>(rows: Query<E>): Query<E> => rows.select('count(*)::int', 'total').orderBy();

/** TypeORM's errors carry the values of their query, which no log may show; the driver's, as of any statement, do not. */
const sent = <T>(query: Promise<T>): Promise<T> =>
  query.catch((error: unknown) => {
    throw error instanceof QueryFailedError ? error.driverError : error;
  });

const first = async <E>(query: Promise<{ raw?: unknown }>): Promise<E | null> => ((await sent(query)).raw as E[])[0] ?? null;

/** A column without a value to look for is a mistake of the caller's; left out, it would let every row through. */
function sought(column: string, value: unknown): unknown {
  if (value === undefined) throw new Error(`There is no value to look for in ${column}.`);
  return value === null ? IsNull() : value;
}
