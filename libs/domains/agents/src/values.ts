/** Neither absent nor null. */
export const isSet = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Whether a text that may be an id or a slug is an id. */
export const isId = (text: string): boolean => UUID.test(text);

export const isSlug = (text: string): boolean => text.length <= 64 && SLUG.test(text);
