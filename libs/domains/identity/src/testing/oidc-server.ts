import { startAuthorizationServer, type AuthorizationServer } from '@aps/platform/testing';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type GenerateKeyPairResult, type JWK } from 'jose';

/** An identity provider on a real socket; what of it is changed holds from then on. */
export interface OidcServer extends AuthorizationServer {
  /** What it says of whoever signs in. */
  person: Record<string, unknown>;
  /** What its identity tokens say instead, of themselves. */
  instead: Record<string, unknown>;
  /** Without a signature. */
  isUnsigned: boolean;
  /** Its identity tokens say who it is and no more; the rest is for the access token. */
  isTerse: boolean;
  /** Of its identity tokens. */
  token: string;
  /** Has new keys from now on. @param announced whether they are among those that it shows */
  rotate(alg?: 'RS256' | 'ES256' | 'PS256', announced?: boolean): Promise<void>;
  /** The setting that names it. */
  setting(name?: string): string;
}

/** An OpenID provider. The client `known` has the secret `s3cret`. */
export async function startOidcServer(): Promise<OidcServer> {
  let keys: GenerateKeyPairResult & { kid: string; alg: string };
  let shown: JWK[] = [];
  const rotate = async (alg = 'RS256', announced = true) => {
    const kid = `key-${Math.random()}`;
    keys = { ...(await generateKeyPair(alg, { extractable: true })), kid, alg };
    if (announced) shown = [{ ...(await exportJWK(keys.publicKey)), kid, alg, use: 'sig' }];
  };
  await rotate();
  const server: OidcServer = Object.assign(
    await startAuthorizationServer({ place: 'openid-configuration', authMethods: ['client_secret_basic'] }),
    {
      ...{ person: {}, instead: {}, isUnsigned: false, isTerse: false, token: '', rotate },
      setting: (name = 'corp') =>
        JSON.stringify([{ name, label: 'Corp', issuer: server.url, client_id: 'known', client_secret: 's3cret' }]),
    },
  );
  server.metadata = {
    jwks_uri: `${server.url}/keys`,
    userinfo_endpoint: `${server.url}/userinfo`,
    code_challenge_methods_supported: undefined,
  };
  server.besides = async ({ nonce }) => {
    const now = Math.floor(Date.now() / 1_000);
    const who = server.isTerse ? { sub: server.person.sub } : server.person;
    const claims = { iss: server.url, aud: 'known', iat: now, exp: now + 300, nonce, ...who, ...server.instead };
    server.token = server.isUnsigned
      ? new UnsecuredJWT(claims).encode()
      : await new SignJWT(claims).setProtectedHeader({ alg: keys.alg, kid: keys.kid }).sign(keys.privateKey);
    return { id_token: server.token };
  };
  server.others = (path, { headers }) => {
    if (path === '/keys') return { keys: shown };
    return path === '/userinfo' && headers.authorization?.startsWith('Bearer at-') ? server.person : undefined;
  };
  return server;
}
