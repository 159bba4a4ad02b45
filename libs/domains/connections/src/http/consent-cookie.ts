import type { Request, Response } from 'express';
import { CONSENT_S, type Asked } from '../consents/connection-consents';

/** Cookies of consents go nowhere else. */
const PATH = '/api/oauth/callback';

/** Has the browser that asked keep what it is known by when it comes back. */
export function keepIn(response: Response, { secure }: Request, asked: Asked | null): void {
  if (asked)
    response.cookie(asked.browser.name, asked.browser.value, {
      httpOnly: true,
      sameSite: 'lax',
      secure,
      path: PATH,
      maxAge: CONSENT_S * 1_000,
    });
}

export function keptIn({ headers }: Request, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(/; ?/).map((pair) => pair.split('=', 2));
  return pairs.find(([key]) => key === name)?.[1];
}
