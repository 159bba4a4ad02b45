import { applyDecorators } from '@nestjs/common';
import { StringField, type FieldOptions } from '@aps/platform/http';
import { ValidateBy } from 'class-validator';

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** What operators name a plan or a pack by. Never `__none__`, which lists take for no plan. */
export const CodeField = (o: FieldOptions) =>
  StringField({
    ...o,
    min: 1,
    max: 64,
    pattern: /^[a-z0-9]+([_-][a-z0-9]+)*$/,
    patternMessage: 'Code should be lower-case letters and digits joined by single hyphens or underscores',
  });

/** A currency of ISO 4217, by its three letters. */
export const CurrencyField = (o: FieldOptions): PropertyDecorator =>
  applyDecorators(
    StringField({ ...o, pattern: /^[A-Z]{3}$/, patternMessage: 'Input should be three capital letters', example: 'USD' }),
    ValidateBy(
      { name: 'isCurrency', validator: { validate: (v: unknown) => v === undefined || (typeof v === 'string' && CURRENCIES.has(v)) } },
      { message: 'Input should be a currency of ISO 4217', context: { type: 'value_error' } },
    ),
  );
