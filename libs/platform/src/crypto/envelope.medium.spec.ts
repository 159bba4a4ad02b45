import { NO_CALLER } from '@aps/platform/database';
import { randomBytes, randomUUID } from 'node:crypto';
import { loadConfig } from '@aps/platform/config';
import { sql, createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import { DataKeyEntity } from '../../../entities/src/platform/data-key.entity';
import { DecryptionError, EnvelopeCrypto, type SecretPlace } from './envelope';

const OLD = `1:${randomBytes(32).toString('base64')}`;
const NEW = `2:${randomBytes(32).toString('base64')}`;

function withMasters(keys: string): EnvelopeCrypto {
  loadConfig({ ...process.env, MASTER_KEYS: keys });
  return new EnvelopeCrypto();
}

const placeIn = (orgId: string | null): SecretPlace => ({ orgId, table: 'connections', column: 'credential', rowId: randomUUID() });

describe('EnvelopeCrypto', () => {
  let medium: TestDatabase;
  beforeAll(async () => {
    medium = await createTestDatabase({ entities: [DataKeyEntity] });
    await medium.dataSource.synchronize();
  });
  afterAll(() => medium.drop());
  const keysOf = (orgId: string) =>
    medium.db.query(sql<{ id: string; master_version: number }>('SELECT * FROM data_keys WHERE org_id = $1'), [orgId]);

  it('opens what it sealed, in another process as well, for organizations and the platform', async () => {
    for (const orgId of [randomUUID(), null]) {
      const place = placeIn(orgId);
      const secret = 'sk-ünïcode-\u{1F511}';
      const stored = await withMasters(OLD).encrypt(medium.db, place, secret);
      expect(stored).toMatch(/^e1\.[0-9a-f-]{36}\.[A-Za-z0-9_-]+$/);
      expect(stored).not.toContain(Buffer.from(secret).toString('base64url'));
      await expect(withMasters(OLD).decrypt(medium.db, place, stored)).resolves.toBe(secret);
    }
  });

  it('gives each organization one key and each secret its own nonce', async () => {
    const crypto = withMasters(OLD);
    const place = placeIn(randomUUID());
    const made = await Promise.all(Array.from({ length: 8 }, () => crypto.encrypt(medium.db, place, 'same')));
    expect(new Set(made).size).toBe(8);
    expect(await keysOf(place.orgId!)).toHaveLength(1);
    const other = await crypto.encrypt(medium.db, { ...place, orgId: randomUUID() }, 'same');
    expect(other.split('.')[1]).not.toBe(made[0].split('.')[1]);
  });

  it('makes the platform one key under a race', async () => {
    await medium.db.execute(sql('DELETE FROM data_keys WHERE org_id IS NULL'));
    await Promise.all(Array.from({ length: 6 }, () => withMasters(OLD)).map((c) => c.encrypt(medium.db, placeIn(null), 'x')));
    expect(await medium.db.query(sql('SELECT 1 FROM data_keys WHERE org_id IS NULL'))).toHaveLength(1);
  });

  it('opens a ciphertext only in its own place', async () => {
    const crypto = withMasters(OLD);
    const place = placeIn(randomUUID());
    const stored = await crypto.encrypt(medium.db, place, 'secret');
    const elsewhere: Partial<SecretPlace>[] = [
      { orgId: randomUUID() },
      { orgId: null },
      { table: 'routes' },
      { column: 'token' },
      { rowId: randomUUID() },
    ];
    for (const change of elsewhere)
      await expect(crypto.decrypt(medium.db, { ...place, ...change }, stored)).rejects.toThrow(DecryptionError);
    await expect(crypto.decrypt(medium.db, { ...place, orgId: randomUUID() }, stored)).rejects.toThrow('another organization');
  });

  it('refuses what was altered', async () => {
    const crypto = withMasters(OLD);
    const place = placeIn(randomUUID());
    const stored = await crypto.encrypt(medium.db, place, 'secret');
    const [format, id, sealed] = stored.split('.');
    const bytes = Buffer.from(sealed, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes);
      altered[at] ^= 1;
      await expect(crypto.decrypt(medium.db, place, `${format}.${id}.${altered.toString('base64url')}`)).rejects.toThrow(DecryptionError);
    }
    for (const bad of [
      '',
      'secret',
      `${format}.${id}.`,
      `${format}.${id}.${bytes.subarray(0, 20).toString('base64url')}`,
      `${format}.${randomUUID()}.${sealed}`,
    ]) {
      await expect(crypto.decrypt(medium.db, place, bad)).rejects.toThrow(DecryptionError);
    }
  });

  it('forgets a key whose transaction was rolled back', async () => {
    const crypto = withMasters(OLD);
    const place = placeIn(randomUUID());
    const lost = medium.db.transaction(NO_CALLER, async (tx) => {
      await crypto.encrypt(tx, place, 'one');
      await crypto.encrypt(tx, place, 'two');
      throw new Error('rolled back');
    });
    await expect(lost).rejects.toThrow('rolled back');
    expect(await keysOf(place.orgId!)).toHaveLength(0);
    const stored = await crypto.encrypt(medium.db, place, 'three');
    await expect(withMasters(OLD).decrypt(medium.db, place, stored)).resolves.toBe('three');
  });

  it('re-wraps all keys under the newest master key, after which the old one may go', async () => {
    await medium.db.execute(sql('DELETE FROM data_keys'));
    const places = Array.from({ length: 5 }, () => placeIn(randomUUID()));
    const before = withMasters(OLD);
    const stored = await Promise.all(places.map((p) => before.encrypt(medium.db, p, p.rowId)));

    const rotating = withMasters(`${OLD},${NEW}`);
    const counts = await Promise.all([rotating.rewrap(medium.db, 3), rotating.rewrap(medium.db, 3)]);
    expect(counts[0] + counts[1]).toBe(5);
    expect(await rotating.rewrap(medium.db)).toBe(0);

    const after = withMasters(NEW);
    for (const [i, place] of places.entries()) await expect(after.decrypt(medium.db, place, stored[i])).resolves.toBe(place.rowId);
    await expect(withMasters(OLD).decrypt(medium.db, places[0], stored[0])).rejects.toThrow('Master key 2 is not configured');
  });
});
