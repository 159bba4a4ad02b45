import { SlugField, StringField } from '@aps/platform/http';

/** A UUID, or the word that means "without one". */
export const IdOrNone = (description: string) =>
  StringField({
    optional: true,
    pattern: /^(?:none|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$/,
    patternMessage: 'Input should be a valid UUID or none',
    description,
  });

/** A slug that callers may wish. @param what it says beside that it is made otherwise */
export const WishedSlug = (example: string, what = '') =>
  SlugField({ optional: true, nullable: true, description: `${what} Default: made from the name.`.trim(), example });
