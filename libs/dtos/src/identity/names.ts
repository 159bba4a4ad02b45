import { StringField, type FieldOptions } from '@aps/platform/http';

export const NameField = (o: FieldOptions): PropertyDecorator =>
  StringField({ ...o, min: 1, max: 200, pattern: /\S/, patternMessage: 'Name should not be blank' });
