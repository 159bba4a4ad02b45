import { readFileSync } from 'node:fs';
import { ConfigError, configSection, setting } from '@aps/platform/config';
import { z } from 'zod';

/** Version of a master key to its 32 bytes. */
export type MasterKeys = ReadonlyMap<number, Buffer>;

function parseMasterKeys(raw: string): MasterKeys | string {
  const keys = new Map<number, Buffer>();
  for (const entry of raw.split(/[,\n]/).map((e) => e.trim())) {
    if (!entry) continue;
    const [, version, encoded] = /^(\d{1,9}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry) ?? [];
    const key = Buffer.from(encoded ?? '', 'base64');
    if (!version || Number(version) < 1 || key.length !== 32) return 'must be <version>:<base64 of 32 bytes>, several separated by commas';
    if (keys.has(Number(version))) return `names version ${Number(version)} twice`;
    keys.set(Number(version), key);
  }
  return keys.size ? keys : 'must name at least one key';
}

const masterKeys = (read: (raw: string) => string) =>
  z
    .string()
    .optional()
    .transform((raw, ctx) => {
      if (raw === undefined) return undefined;
      let text: string;
      try {
        text = read(raw);
      } catch {
        ctx.addIssue({ code: 'custom', message: 'cannot be read' });
        return z.NEVER;
      }
      const keys = parseMasterKeys(text);
      if (typeof keys !== 'string') return keys;
      ctx.addIssue({ code: 'custom', message: keys });
      return z.NEVER;
    });

const secretList = z
  .string()
  .optional()
  .transform((raw, ctx) => {
    if (raw === undefined) return undefined;
    const secrets = raw.split(',').map((s) => s.trim());
    if (secrets.every((s) => s.length >= 32)) return secrets;
    ctx.addIssue({ code: 'custom', message: 'must be at least 32 characters; several are separated by commas' });
    return z.NEVER;
  });

// Each is optional here and demanded by the provider that uses it, so that a process holds no secret that it does not need.
export const cryptoConfig = configSection('crypto', {
  masterKeys: setting(
    'MASTER_KEYS',
    masterKeys((raw) => raw),
    'Keys that wrap the data keys of stored secrets: <version>:<base64 of 32 bytes>, several separated by commas. The highest version wraps; keep the others until all data keys are re-wrapped. To rotate, first roll out the list with the new key in every process',
    { secret: true },
  ),
  masterKeysFile: setting(
    'MASTER_KEYS_FILE',
    masterKeys((path) => readFileSync(path, 'utf8')),
    'File with the value of MASTER_KEYS, for a mounted secret; wins over MASTER_KEYS',
  ),
  internalTokenSecrets: setting(
    'INTERNAL_TOKEN_SECRET',
    secretList,
    'Signs what the gateway tells the services behind it about the caller, at least 32 characters. Several, separated by commas, while it is being changed: the first signs, all verify',
    { secret: true },
  ),
});

/** @throws ConfigError when the process has no master key */
export function requireMasterKeys(): MasterKeys {
  const { masterKeys, masterKeysFile } = cryptoConfig.value;
  const keys = masterKeysFile ?? masterKeys;
  if (!keys) throw new ConfigError(['MASTER_KEYS: set it, or MASTER_KEYS_FILE']);
  return keys;
}

/** @throws ConfigError when the process has no secret for internal tokens */
export function requireInternalTokenSecrets(): string[] {
  const secrets = cryptoConfig.value.internalTokenSecrets;
  if (!secrets) throw new ConfigError(['INTERNAL_TOKEN_SECRET: set it']);
  return secrets;
}
