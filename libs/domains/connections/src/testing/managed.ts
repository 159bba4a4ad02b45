import type { Bearer } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';

/** The cookie that an answer has set. */
export const cookieIn = (headers: Headers): string => /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';

/**
 * Signs in at the provider of managed apps, and comes back.
 *
 * @param cookie of the browser that asked
 * @returns where that leads to; null where it is not known here
 */
export async function signIn(service: TestService, link: string, cookie?: string): Promise<URL | null> {
  const there = await fetch(link, { redirect: 'manual' });
  const back = new URL(there.headers.get('location')!);
  const here = await fetch(`${service.url}${back.pathname}${back.search}`, { redirect: 'manual', headers: cookie ? { cookie } : {} });
  return here.status === 302 ? new URL(here.headers.get('location')!) : null;
}

/** Connects a managed app, as somebody does who signs in at once. @returns the connection, as it was made */
export async function connectManaged(
  service: TestService,
  org: { id: string },
  as: Bearer,
  body: { app_key: string; scope?: string },
): Promise<{ id: string; integration_id: string; slug: string }> {
  const made = await service.call('POST', `/api/orgs/${org.id}/connections`, { as, body: { method: 'oauth2', ...body } });
  const landed = await signIn(service, made.body.authorize_url as string, cookieIn(made.headers));
  if (landed?.searchParams.get('status') !== 'active') throw new Error(`It is not connected: ${made.text}`);
  return made.body.connection as { id: string; integration_id: string; slug: string };
}
