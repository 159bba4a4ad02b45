/** Neither absent nor null. */
export const isSet = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;
