import { jsonOf, urlOf } from '@aps/platform/egress';
import { z } from 'zod';
import { ImageProblem } from './image-problem';

const answered = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/** Parameters of a challenge: a name, and a value with or without quotes. */
const PARAMETER = /(?<![a-z_])([a-z_]+)=(?:"([^"]*)"|([^\s,"]+))/gi;

/**
 * Where a registry sends who has no credentials for a token, by its `WWW-Authenticate`. It must be https; of a registry that is asked over
 * http it may be of the same origin.
 *
 * @param origin of the registry
 * @returns none where it knows nothing of such tokens
 * @throws ImageProblem `registry`
 */
export function tokenAddress(challenge: string, origin: string, repository: string): string | undefined {
  const [, parameters] = /(?:^|[\s,])Bearer\s+(.*)$/is.exec(challenge) ?? [];
  if (!parameters) return undefined;
  const said = Object.fromEntries(
    [...parameters.matchAll(PARAMETER)].map(([, name, quoted, bare]) => [name.toLowerCase(), quoted ?? bare]),
  );
  const realm = urlOf(said.realm ?? '');
  if (!realm || (realm.protocol !== 'https:' && realm.origin !== origin))
    throw new ImageProblem('registry', 'The registry sends for its token to an address that is not asked: it must be one with https.');
  if (said.service) realm.searchParams.set('service', said.service);
  realm.searchParams.set('scope', said.scope ?? `repository:${repository}:pull`);
  return realm.href;
}

/** @throws ImageProblem `registry` */
export function readToken(body: Buffer): string {
  const { data } = answered.safeParse(jsonOf({ body }));
  const token = data?.token ?? data?.access_token;
  // It is sent as a header.
  if (!token || !/^[\x21-\x7e]+$/.test(token)) throw new ImageProblem('registry', 'The registry gives out no token that can be used.');
  return token;
}
