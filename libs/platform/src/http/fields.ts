import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { isUuid, MAX_SLUG, SLUG, UUID } from '@aps/contracts';
import { parseEmail } from '@aps/platform/email';
import { storable } from '../database/storable';
import { readUrl } from '../egress/address';
import { READING, type Ctor, type FieldReading, type QueryKind } from './declared-fields';

/**
 * The fields of the wire contract. One decorator says what a field is; validation, conversion and the OpenAPI schema follow from it,
 * so the three cannot drift apart.
 */
export interface FieldOptions {
  description?: string;
  example?: unknown;
  /** The key may be absent. */
  optional?: boolean;
  /** An explicit null is allowed. */
  nullable?: boolean;
  default?: unknown;
  deprecated?: boolean;
}

const message = (type: string, text: string): ValidationOptions => ({ message: text, context: { type } });
const each = (options: ValidationOptions): ValidationOptions => ({ ...options, each: true });

function field(
  kind: QueryKind,
  options: FieldOptions,
  schema: ApiPropertyOptions,
  validators: PropertyDecorator[],
  reading: Omit<FieldReading, 'kind'> = {},
): PropertyDecorator {
  const api = {
    ...schema,
    required: !options.optional,
    ...(options.nullable && { nullable: true }),
    ...(options.description && { description: options.description }),
    ...(options.example !== undefined && { example: options.example }),
    ...(options.default !== undefined && { default: options.default }),
    ...(options.deprecated && { deprecated: true }),
    [READING]: { kind, ...reading } satisfies FieldReading,
  } as unknown as ApiPropertyOptions;
  const presence = ValidateIf((_, value: unknown) => !(value === undefined && options.optional) && !(value === null && options.nullable));
  return applyDecorators(ApiProperty(api), presence, ...validators);
}

export interface StringOptions extends FieldOptions {
  min?: number;
  max?: number;
  pattern?: RegExp;
  /** Said when the pattern does not match. */
  patternMessage?: string;
  format?: string;
  /** Bytes in UTF-8. */
  maxBytes?: number;
  /** What is around it, white space, is no part of it. */
  trim?: boolean;
  /** What cannot be stored of it, NUL and half characters, is taken out, and not refused: nobody chose it. */
  made?: boolean;
  /**
   * The value is a credential, shown in this answer alone: no cache may keep the answer, and its repeat by `Idempotency-Key` says null.
   * So it is nullable where the operation is idempotent.
   */
  credential?: boolean;
}

function stringValidators(o: StringOptions, wrap: (v: ValidationOptions) => ValidationOptions): PropertyDecorator[] {
  const validators = [IsString(wrap(message('string_type', 'Input should be a valid string')))];
  if (o.min !== undefined)
    validators.push(
      MinLength(o.min, wrap(message('string_too_short', `String should have at least ${o.min} character${o.min === 1 ? '' : 's'}`))),
    );
  if (o.max !== undefined)
    validators.push(MaxLength(o.max, wrap(message('string_too_long', `String should have at most ${o.max} characters`))));
  if (o.maxBytes !== undefined)
    validators.push(
      ValidateBy(
        { name: 'maxBytes', validator: { validate: (v: unknown) => typeof v !== 'string' || Buffer.byteLength(v) <= o.maxBytes! } },
        wrap(message('string_too_long', `String should have at most ${o.maxBytes} bytes`)),
      ),
    );
  if (o.pattern)
    validators.push(Matches(o.pattern, wrap(message('value_error', o.patternMessage ?? `String should match ${o.pattern.source}`))));
  return validators;
}

const stringSchema = (o: StringOptions) => ({
  type: 'string' as const,
  ...(o.min !== undefined && { minLength: o.min }),
  ...(o.max !== undefined && { maxLength: o.max }),
  ...(o.pattern && { pattern: o.pattern.source }),
  ...(o.format && { format: o.format }),
});

const one = (v: ValidationOptions) => v;

export function StringField(o: StringOptions = {}): PropertyDecorator {
  return field('string', o, { ...stringSchema(o), ...(o.credential && { 'x-credential': true }) }, stringValidators(o, one), {
    credential: o.credential,
    decimal: o.format === 'decimal',
    ...(o.trim && { convert: (value: unknown) => (typeof value === 'string' ? value.trim() : value) }),
    ...(o.made && { convert: storable }),
  });
}

const uuidValidators = (wrap: (v: ValidationOptions) => ValidationOptions): PropertyDecorator[] => [
  Matches(UUID, wrap(message('uuid_parsing', 'Input should be a valid UUID'))),
];

/** One spelling from here on, as in paths: ids are compared as text, too, and used as keys. */
const inOneSpelling = (id: unknown): unknown => (isUuid(id) ? id.toLowerCase() : id);

export function UuidField(o: FieldOptions = {}): PropertyDecorator {
  return field('string', o, { type: 'string', format: 'uuid' }, uuidValidators(one), { convert: inOneSpelling });
}

/** An id of something that may be of several kinds: a UUID, or one with a prefix. Whoever takes it looks which. */
export function IdField(o: StringOptions = {}): PropertyDecorator {
  return field('string', o, stringSchema(o), stringValidators(o, one), { convert: inOneSpelling });
}

/** What something is to be called. Where ids and slugs are both taken, the form of a UUID would be read as an id. */
export function SlugField(o: FieldOptions = {}): PropertyDecorator {
  const slug = {
    ...o,
    min: 1,
    max: MAX_SLUG,
    pattern: SLUG,
    patternMessage: 'Slug should be lower-case letters and digits joined by single hyphens',
  };
  const isNoId = ValidateBy(
    { name: 'isNoId', validator: { validate: (v: unknown) => !isUuid(v) } },
    message('value_error', 'A slug should not have the form of a UUID'),
  );
  return field('string', o, stringSchema(slug), [...stringValidators(slug, one), isNoId]);
}

/** An email address, at most 254 characters, as it was typed: trimmed, in NFC. What compares addresses takes their canonical form. */
export function EmailField(o: FieldOptions = {}): PropertyDecorator {
  return field(
    'string',
    o,
    { type: 'string', format: 'email', maxLength: 254 },
    [
      IsString(message('string_type', 'Input should be a valid string')),
      MaxLength(254, message('string_too_long', 'String should have at most 254 characters')),
      ValidateBy(
        { name: 'isEmail', validator: { validate: (v: unknown) => typeof v === 'string' && parseEmail(v) !== null } },
        message('value_error', 'Input should be a valid email address'),
      ),
    ],
    { convert: (value) => (typeof value === 'string' ? (parseEmail(value)?.typed ?? value) : value) },
  );
}

/** The address of a page or a picture that browsers are led to, kept as it was read. Nothing here fetches it: what is fetched is checked by `Egress`. */
export function UrlField(o: FieldOptions = {}): PropertyDecorator {
  const read = (value: unknown) => (typeof value === 'string' ? readUrl(value) : undefined);
  const isLink = (value: unknown) => {
    const url = read(value);
    return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  };
  return field(
    'string',
    o,
    { type: 'string', format: 'uri', pattern: '^https?://', maxLength: 2_048 },
    [
      IsString(message('string_type', 'Input should be a valid string')),
      MaxLength(2_048, message('string_too_long', 'String should have at most 2048 characters')),
      ValidateBy(
        { name: 'isLink', validator: { validate: isLink } },
        message('value_error', 'Input should be an http:// or https:// URL without a user name'),
      ),
    ],
    { convert: (value) => read(value)?.href ?? value },
  );
}

export interface NumberOptions extends FieldOptions {
  min?: number;
  max?: number;
}

const bounds = (o: NumberOptions): PropertyDecorator[] => [
  ...(o.min !== undefined ? [Min(o.min, message('greater_than_equal', `Input should be greater than or equal to ${o.min}`))] : []),
  ...(o.max !== undefined ? [Max(o.max, message('less_than_equal', `Input should be less than or equal to ${o.max}`))] : []),
];
const boundsSchema = (o: NumberOptions) => ({
  ...(o.min !== undefined && { minimum: o.min }),
  ...(o.max !== undefined && { maximum: o.max }),
});

/** A whole number. Without bounds of its own it must fit a PostgreSQL `integer`. */
export function IntField(options: NumberOptions = {}): PropertyDecorator {
  const o = { ...options, min: options.min ?? -2_147_483_648, max: options.max ?? 2_147_483_647 };
  return field('int', o, { type: 'integer', ...boundsSchema(options) }, [
    IsInt(message('int_parsing', 'Input should be a valid integer')),
    ...bounds(o),
  ]);
}

export function NumberField(o: NumberOptions = {}): PropertyDecorator {
  return field('number', o, { type: 'number', ...boundsSchema(o) }, [
    IsNumber({ allowNaN: false, allowInfinity: false }, message('float_parsing', 'Input should be a valid number')),
    ...bounds(o),
  ]);
}

export function BooleanField(o: FieldOptions = {}): PropertyDecorator {
  return field('bool', o, { type: 'boolean' }, [IsBoolean(message('bool_parsing', 'Input should be a valid boolean'))]);
}

export interface EnumOptions extends FieldOptions {
  /** Name of the shared schema component. */
  name?: string;
}

const listed = (values: readonly string[]) => values.map((v) => `'${v}'`).join(', ');

export function EnumField(values: readonly string[], o: EnumOptions = {}): PropertyDecorator {
  return field('string', o, { enum: [...values], ...(o.name && { enumName: o.name }) } as ApiPropertyOptions, [
    IsIn([...values], message('enum', `Input should be ${listed(values)}`)),
  ]);
}

const DECIMAL = /^[+-]?\d{1,14}(\.\d{1,6})?$/;

/** A decimal, number or string on the way in, always a string within: at most 14 digits before and 6 after the point. */
export function DecimalField(o: FieldOptions & { positive?: boolean; min?: number; max?: number } = {}): PropertyDecorator {
  const bound = (type: string, text: string, holds: (value: number) => boolean) =>
    ValidateBy({ name: type, validator: { validate: (v: unknown) => typeof v === 'string' && holds(Number(v)) } }, message(type, text));
  const { positive, min, max } = o;
  const atLeast = positive || min !== undefined;
  return field(
    'string',
    o,
    { oneOf: [{ type: 'number' }, { type: 'string', pattern: DECIMAL.source }] } as ApiPropertyOptions,
    [
      Matches(DECIMAL, message('decimal_parsing', 'Input should be a decimal with at most 6 digits after the point')),
      ...(atLeast
        ? [
            bound(
              'greater_than_equal',
              positive ? 'Input should be greater than 0' : `Input should be greater than or equal to ${min}`,
              (value) => (positive ? value > 0 : value >= (min ?? 0)),
            ),
          ]
        : []),
      ...(max !== undefined ? [bound('less_than_equal', `Input should be less than or equal to ${max}`, (value) => value <= max)] : []),
    ],
    { exact: true, convert: (value) => (typeof value === 'number' && Number.isFinite(value) ? String(value) : value) },
  );
}

/** A NUMERIC column as answers carry it: without the zeros that its scale adds. */
export const decimalText = (value: string): string => (value.includes('.') ? value.replace(/\.?0+$/, '') : value);

/** A decimal in an answer: always a string, so that no client loses digits. */
export function DecimalString(o: FieldOptions = {}): PropertyDecorator {
  return StringField({ ...o, format: 'decimal' });
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** Whether a text is a moment that there is: no 30th of February, and within the years of four digits whatever its zone. */
function isMoment(text: string): boolean {
  const moment = new Date(text);
  const [year, month, day] = text.split(/\D/, 3).map(Number);
  return (
    RFC3339.test(text) &&
    day <= new Date(Date.UTC(year, month, 0)).getUTCDate() &&
    /^\d{4}-/.test(isoOf(moment)) &&
    !isoOf(moment).startsWith('0000')
  );
}

const isoOf = (moment: Date): string => (Number.isNaN(moment.getTime()) ? '' : moment.toISOString());

/** A moment, as RFC 3339 writes it. That of a request stays the text that it is, which a column of times takes as it stands. */
export function DateTimeField(o: FieldOptions = {}): PropertyDecorator {
  return field('string', { example: '2026-11-20T09:30:00.000Z', ...o }, { type: 'string', format: 'date-time' }, [
    ValidateBy(
      {
        name: 'isRfc3339',
        validator: { validate: (v: unknown) => typeof v === 'string' && isMoment(v) },
      },
      message('datetime_parsing', 'Input should be an RFC 3339 date and time'),
    ),
  ]);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day of the calendar, `YYYY-MM-DD`. */
export function DateField(o: FieldOptions = {}): PropertyDecorator {
  return field('string', { example: '2026-11-20', ...o }, { type: 'string', format: 'date' }, [
    ValidateBy(
      { name: 'isDay', validator: { validate: (v: unknown) => typeof v === 'string' && DAY.test(v) && isMoment(`${v}T00:00:00Z`) } },
      message('datetime_parsing', 'Input should be a date, YYYY-MM-DD'),
    ),
  ]);
}

interface ObjectOptions extends FieldOptions {
  /** Documents what stands under its keys. */
  values?: Ctor;
  /** Documents its keys, where a name that it does not have is refused and not ignored. */
  shape?: Ctor;
}

/** A JSON object whose keys are the caller's, and whose numbers are kept or refused. Whoever reads its values judges them. */
export function ObjectField({ values, shape, ...o }: ObjectOptions = {}): PropertyDecorator {
  const documented = values ?? shape;
  const decorate = field(
    'string',
    o,
    (shape
      ? { allOf: [{ $ref: getSchemaPath(shape) }] }
      : { type: 'object', additionalProperties: values ? { $ref: getSchemaPath(values) } : true }) as ApiPropertyOptions,
    [IsObject(message('dict_type', 'Input should be a valid object'))],
    { exact: true },
  );
  return (target, key) => {
    if (documented) ApiExtraModels(documented)(target.constructor);
    decorate(target, key);
  };
}

/** Any JSON, null too, whose numbers are kept or refused. */
export function JsonField(o: Omit<FieldOptions, 'nullable'> = {}): PropertyDecorator {
  const oneOf = [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: {} },
    ...['string', 'number', 'boolean'].map((type) => ({ type })),
  ];
  return field('string', { ...o, nullable: true }, { oneOf } as ApiPropertyOptions, [], { exact: true });
}

/** An object of a declared shape. */
export function NestedField(type: () => Ctor, o: FieldOptions = {}): PropertyDecorator {
  return field(
    'string',
    o,
    { type: () => type() } as unknown as ApiPropertyOptions,
    [
      IsObject(message('dict_type', 'Input should be a valid object')),
      ValidateNested(message('dict_type', 'Input should be a valid object')),
    ],
    { nested: type },
  );
}

export interface ListOptions extends FieldOptions {
  max?: number;
  min?: number;
  /** Bounds of each element, for lists of strings. */
  item?: StringOptions;
  /** Refuse elements that repeat. */
  unique?: boolean;
}

/** A list of strings, UUIDs, enum values or declared objects. */
export function ListField(of: 'string' | 'uuid' | 'object' | readonly string[] | (() => Ctor), o: ListOptions = {}): PropertyDecorator {
  const validators: PropertyDecorator[] = [IsArray(message('list_type', 'Input should be a valid list'))];
  if (o.max !== undefined) validators.push(ArrayMaxSize(o.max, message('too_long', `List should have at most ${o.max} items`)));
  if (o.min !== undefined)
    validators.push(ArrayMinSize(o.min, message('too_short', `List should have at least ${o.min} item${o.min === 1 ? '' : 's'}`)));
  if (o.unique) {
    validators.push(
      ValidateBy(
        { name: 'uniqueItems', validator: { validate: (v: unknown) => !Array.isArray(v) || new Set(v).size === v.length } },
        message('value_error', 'Items should not repeat'),
      ),
    );
  }
  const sizes = {
    ...(o.max !== undefined && { maxItems: o.max }),
    ...(o.min !== undefined && { minItems: o.min }),
    ...(o.unique && { uniqueItems: true }),
  };
  if (of === 'string') {
    return field('list', o, { type: 'array', items: stringSchema(o.item ?? {}), ...sizes }, [
      ...validators,
      ...stringValidators(o.item ?? {}, each),
    ]);
  }
  if (of === 'uuid') {
    const elements = [...validators, ...uuidValidators(each)];
    const convert = (ids: unknown) => (Array.isArray(ids) ? ids.map(inOneSpelling) : ids);
    return field('list', o, { type: 'array', items: { type: 'string', format: 'uuid' }, ...sizes }, elements, { convert });
  }
  if (of === 'object') {
    const elements = [...validators, IsObject(each(message('dict_type', 'Input should be a valid object')))];
    return field('list', o, { type: 'array', items: { type: 'object', additionalProperties: true }, ...sizes }, elements, { exact: true });
  }
  if (typeof of === 'function') {
    const anObject = each(message('dict_type', 'Input should be a valid object'));
    return field(
      'list',
      o,
      { type: () => of(), isArray: true, ...sizes } as unknown as ApiPropertyOptions,
      // ValidateNested alone takes a list for an object.
      [...validators, IsObject(anObject), ValidateNested(anObject)],
      { nested: of, most: o.max },
    );
  }
  return field('list', o, { type: 'array', items: { type: 'string', enum: [...of] }, ...sizes }, [
    ...validators,
    IsIn([...of], each(message('enum', `Input should be ${listed(of)}`))),
  ]);
}
