import type { Work } from './work';

/** A way to tell what commands come to. */
export interface Link {
  /** There is something new of it. */
  tell(work: Work): void;
}

/** How a link has ended: it was never there, was lost, or nothing of its kind will be there again. */
export type LinkEnd = { kind: 'refused' | 'lost' } | { kind: 'over'; why: string };

/** Where to, and as whom. */
export interface Target {
  /** Of the API, without a slash at its end. */
  url: string;
  token: string;
  hello: { version: string; platform: string; hostname: string };
}

export const TOKEN_REFUSED: LinkEnd = { kind: 'over', why: 'The token is not valid (any more).' };
