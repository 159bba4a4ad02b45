import { StringField, type FieldOptions } from '@aps/platform/http';

type NameOptions = FieldOptions & { max?: number };

/** Blank names say nothing, and control characters have no place in the mails and pages that show one. */
export const NameField = ({ max = 200, ...o }: NameOptions): PropertyDecorator =>
  StringField({
    ...o,
    min: 1,
    max,
    pattern: /^(?!\s*$)[^\u0000-\u001f\u007f]*$/,
    patternMessage: 'Name should have a visible character and no control characters',
  });

/** A name in a form that may be left blank: something else is taken then. */
export const BlankableNameField = ({ max = 200, ...o }: NameOptions): PropertyDecorator =>
  StringField({
    ...o,
    optional: true,
    max,
    pattern: /^[^\u0000-\u001f\u007f]*$/,
    patternMessage: 'Name should have no control characters',
  });
