import { DomainError, type Problem, requireValid } from '@aps/contracts';
import type { ChannelConfig, ChannelKind } from '@aps/entities';
import { isMasked } from '@aps/platform/crypto';
import { storable } from '@aps/platform/database';
import { isJsonPath } from './json-path';

const SCHEMES = ['none', 'standard_webhooks', 'github', 'stripe', 'slack', 'hmac_sha256_hex'] as const;
const PATHS = ['sender_path', 'subject_path', 'body_path', 'dedupe_path', 'thread_path'] as const;
const MAX_CONFIG = 16 * 1024;
const MAX_SECRET = 1_000;

/** What is changed of a channel: keys are replaced one by one, null removes one. */
export type ConfigChange = Record<string, unknown>;

/** A configuration as it is stored, and what its senders sign with; undefined where that stays as it is. */
export interface CheckedConfig {
  config: ChannelConfig;
  secret: string | null | undefined;
}

/**
 * The configuration of a channel after a change, which may hold anything.
 *
 * @param hasSecret whether a secret is stored
 * @throws DomainError 422 `validation_error` with every problem, `masked_secret`
 */
export function changedConfig(kind: ChannelKind, before: ChannelConfig, change: ConfigChange, hasSecret: boolean): CheckedConfig {
  const merged = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  const config = Object.fromEntries(merged) as ChannelConfig;
  const problems: Problem[] = [];
  const wrong = (path: string[], msg: string) => void problems.push({ loc: ['body', 'config', ...path], msg, type: 'value_error' });

  if (kind === 'webhook' && 'public' in config) wrong(['public'], 'Only the addresses of mail have codes');
  for (const path of PATHS.filter((name) => name in config)) {
    const problem = problemOfPath(config[path]);
    if (problem) wrong([path], problem);
  }
  const secret = 'signature' in change ? readSignature(config, change.signature, hasSecret, wrong) : undefined;
  if (Buffer.byteLength(JSON.stringify(config)) > MAX_CONFIG) wrong([], `Configuration should be at most ${MAX_CONFIG} bytes of JSON`);
  requireValid(problems);
  return { config: storable(config), secret };
}

/** Leaves in the configuration what may be read, and answers the secret. */
function readSignature(
  config: ChannelConfig,
  signature: unknown,
  hasSecret: boolean,
  wrong: (path: string[], msg: string) => void,
): string | null | undefined {
  if (signature === null || signature === undefined) return null;
  if (typeof signature !== 'object' || Array.isArray(signature)) {
    wrong(['signature'], 'Input should be an object');
    return undefined;
  }
  const { scheme, header, secret, ...unknown } = signature as Record<string, unknown>;
  for (const key of Object.keys(unknown)) wrong(['signature', key], 'There is no such setting of a signature');
  if (!SCHEMES.includes(scheme as (typeof SCHEMES)[number])) wrong(['signature', 'scheme'], `Input should be one of ${SCHEMES.join(', ')}`);
  if (header !== undefined && header !== null && (typeof header !== 'string' || !/^[A-Za-z0-9-]{1,100}$/.test(header)))
    wrong(['signature', 'header'], 'Input should be the name of a header');
  if (scheme === 'hmac_sha256_hex' && typeof header !== 'string')
    wrong(['signature', 'header'], 'This scheme needs the header that has the signature');
  if (secret !== undefined && secret !== null && (typeof secret !== 'string' || secret.length < 1 || secret.length > MAX_SECRET))
    wrong(['signature', 'secret'], `Input should be a text of 1 to ${MAX_SECRET} characters`);
  if (typeof secret === 'string' && isMasked(secret)) {
    const msg = 'This is the masked form of a secret. Send the secret itself, or leave the field out.';
    throw new DomainError('masked_secret', msg, {
      problems: [{ loc: ['body', 'config', 'signature', 'secret'], msg, type: 'semantic.masked_secret' }],
    });
  }
  const kept = secret === undefined && hasSecret && scheme !== 'none';
  if (scheme !== 'none' && !kept && typeof secret !== 'string') wrong(['signature', 'secret'], 'This scheme needs a secret');
  config.signature = {
    scheme: scheme as NonNullable<ChannelConfig['signature']>['scheme'],
    ...(typeof header === 'string' && { header: header.toLowerCase() }),
  };
  return scheme === 'none' ? null : kept ? undefined : (secret as string);
}

const problemOfPath = (path: unknown): string | null =>
  typeof path === 'string' && isJsonPath(path) ? null : 'Input should be a valid JSONPath of at most 500 characters';
