import { hashToken } from '@aps/platform/crypto';
import type { Request, Response } from 'express';

/** For so long somebody can be at an authorization server, and come back, seconds. */
export const AWAY_S = 600;

/** What a browser is known by when it comes back. */
export interface BrowserCookie {
  name: string;
  value: string;
}

/** The cookie of a state: several may be on their way in one browser. */
export const cookieOf = (state: string): string => `aps_consent_${hashToken(state).toString('hex').slice(0, 16)}`;

/** Has the browser that asked keep what it is known by when it comes back, if there is anything. @param path the cookie goes nowhere else */
export function keepIn(response: Response, { secure }: Request, cookie: BrowserCookie | undefined, path: string): void {
  if (cookie) response.cookie(cookie.name, cookie.value, { httpOnly: true, sameSite: 'lax', secure, path, maxAge: AWAY_S * 1_000 });
}

export function keptIn({ headers }: Request, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(/; ?/).map((pair) => pair.split('=', 2));
  return pairs.find(([key]) => key === name)?.[1];
}
