/** How a query string's text is read before it is validated. */
export type QueryKind = 'string' | 'int' | 'number' | 'bool' | 'list';

export type Ctor = new () => object;

/** How a field is read. */
export interface FieldReading {
  kind: QueryKind;
  /** The class of a declared object, or of the elements of a list. */
  nested?: () => Ctor;
  /** So many elements a list may have. */
  most?: number;
  /** Applied to what was sent, before it is validated. */
  convert?: (value: unknown) => unknown;
  /** Numbers in it are kept as they were written, so one that a double would change is refused. */
  exact?: boolean;
  /** Whoever has the value can act as somebody. */
  credential?: boolean;
  /** A decimal of an answer. */
  decimal?: boolean;
}

/**
 * Where a field's property in the API document carries how it is read: there it goes wherever Nest's PartialType, PickType, OmitType and
 * IntersectionType take the field.
 */
export const READING = Symbol('reading');

type Fields = Readonly<Record<string, FieldReading>>;

/** Under which `@nestjs/swagger` keeps what it knows of a class; it does not export them. */
const PROPERTY_NAMES = 'swagger/apiModelPropertiesArray';
const PROPERTY = 'swagger/apiModelProperties';

const known = new WeakMap<Ctor, Fields>();

/** What the API document knows of a class's properties, its parents' first. */
function propertiesOf(dto: Ctor): { name: string; reading?: FieldReading }[] {
  const prototype = dto.prototype as object;
  const names = (Reflect.getMetadata(PROPERTY_NAMES, prototype) ?? []) as string[];
  return names.map((listed) => {
    const name = listed.slice(1);
    return { name, reading: (Reflect.getMetadata(PROPERTY, prototype, name) as { [READING]?: FieldReading })[READING] };
  });
}

/** The fields of a class, as this house declares them. */
function fieldsOf(dto: Ctor): Fields {
  let fields = known.get(dto);
  if (!fields) {
    fields = Object.fromEntries(propertiesOf(dto).flatMap(({ name, reading }) => (reading ? [[name, reading]] : [])));
    known.set(dto, fields);
  }
  return fields;
}

/** Documents every field of a class as one that may be null, and has no default. Who takes such an object judges its values. */
export function nullableFields(): ClassDecorator {
  return (dto) => {
    const prototype = dto.prototype as object;
    for (const { name } of propertiesOf(dto as unknown as Ctor)) {
      const documented = Reflect.getMetadata(PROPERTY, prototype, name) as { default?: unknown };
      Reflect.defineMetadata(PROPERTY, { ...documented, default: undefined, nullable: true, required: false }, prototype, name);
    }
  };
}

const answered = new WeakMap<Ctor, { name: string; isDecimal: boolean }[]>();

/** The properties of an answer's class, in the order in which it declares them. */
export function answeredFields(dto: Ctor): { name: string; isDecimal: boolean }[] {
  let fields = answered.get(dto);
  if (!fields) {
    fields = propertiesOf(dto).map(({ name, reading }) => ({ name, isDecimal: reading?.decimal ?? false }));
    answered.set(dto, fields);
  }
  return fields;
}

/** How one query value of a DTO is read; undefined for what the DTO does not know. */
export function queryKindOf(dto: Ctor, field: string): QueryKind | undefined {
  return Object.hasOwn(fieldsOf(dto), field) ? fieldsOf(dto)[field].kind : undefined;
}

/** Whether the field that a place in a body belongs to keeps numbers as they were written. */
export function keepsNumbers(dto: Ctor, [name, ...rest]: (string | number)[]): boolean {
  const field = Object.hasOwn(fieldsOf(dto), name) ? fieldsOf(dto)[name] : undefined;
  if (!field?.nested) return field?.exact ?? false;
  return keepsNumbers(field.nested(), typeof rest[0] === 'number' ? rest.slice(1) : rest);
}

/** The fields of a class and of the objects in it that are as wanted, each by its names from the outside in; of a class within itself, those of the outermost. */
export function fieldPaths(dto: Ctor, wanted: (reading: { credential?: boolean }) => boolean, outer: readonly Ctor[] = []): string[][] {
  if (outer.includes(dto)) return [];
  return Object.entries(fieldsOf(dto)).flatMap(([name, reading]) => [
    ...(wanted(reading) ? [[name]] : []),
    ...(reading.nested ? fieldPaths(reading.nested(), wanted, [...outer, dto]).map((path) => [name, ...path]) : []),
  ]);
}

/**
 * Makes a DTO of what was sent: declared fields and no others, nested classes where they are declared. Values are handed on as they
 * are, whatever keys they carry; only the validator judges them. Of a list that is too long, no more elements than make it so are looked at.
 */
export function instantiate<T extends object>(dto: new () => T, sent: Record<string, unknown>): T {
  const made = new dto() as Record<string, unknown>;
  for (const [name, { nested, most = Infinity, convert }] of Object.entries(fieldsOf(dto))) {
    if (!Object.hasOwn(sent, name)) continue;
    const value = convert ? convert(sent[name]) : sent[name];
    const child = (v: unknown): unknown =>
      nested && v !== null && typeof v === 'object' && !Array.isArray(v) ? instantiate(nested(), v as Record<string, unknown>) : v;
    made[name] = nested && Array.isArray(value) ? value.slice(0, most + 1).map(child) : child(value);
  }
  return made as T;
}
