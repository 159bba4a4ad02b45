import { createHash } from 'node:crypto';

/** Beyond this no cursor of ours is; longer ones are not looked into. */
export const MAX_CURSOR_CHARS = 4_000;

const NUMBER = /^\d{1,15}$/;
const ENTRY = /^([A-Za-z0-9_-]{8})\.(\d{1,15})$/;

/** What stands for a topic in a cursor: a cursor is part of every frame, so it is short. Two topics of one stream share one about never. */
export const cursorKey = (topic: string): string => createHash('sha256').update(topic).digest('base64url').slice(0, 8);

/**
 * Where a reader of several topics stands, in one text that any gateway understands: `<key>.<newest number>` of each topic, joined by
 * `~`. Needs no escaping, neither in a header nor in a query.
 */
export function formatCursor(topics: Iterable<{ key: string; last: number }>): string {
  let text = '';
  for (const { key, last } of topics) text += `${text && '~'}${key}.${last}`;
  return text;
}

/** The numbers of a cursor by the keys of their topics. Entries that are none are left out: those topics begin anew. */
export function parseCursor(text: string | undefined): Map<string, number> {
  if (text === undefined || text.length > MAX_CURSOR_CHARS) return new Map();
  return new Map(
    text.split('~').flatMap((entry) => {
      const [, key, last] = ENTRY.exec(entry) ?? [];
      return key ? [[key, Number(last)] as const] : [];
    }),
  );
}

/** The number that a reader of one topic stands at; undefined when the text is no number. */
export const parseNumber = (text: string | undefined): number | undefined =>
  text !== undefined && NUMBER.test(text) ? Number(text) : undefined;
