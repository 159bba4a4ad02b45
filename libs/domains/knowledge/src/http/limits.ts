/** Bytes of a body with something that was written: each of its two MiB may be six in JSON. */
export const WRITTEN_BODY = 13 * 1024 * 1024;
