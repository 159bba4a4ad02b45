import { createHash } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';

/**
 * SHA-256, in hex, of a definition's canonical JSON (RFC 8785): the order of keys and the way in which numbers and characters were written
 * are no matter, all else is. It is of what was pushed, so a default that is written out makes another hash than one that is left out.
 * Texts are not normalized: `é` of one character and of two are two. Only for what was found to nest no deeper than the stack reaches.
 */
export const hashOf = (definition: unknown): string => createHash('sha256').update(canonicalize(definition), 'utf8').digest('hex');
