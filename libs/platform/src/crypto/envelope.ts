import { NO_CALLER } from '@aps/platform/database';
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { requireMasterKeys, type MasterKeys } from './crypto.config';
import { INSERT, KEY_BY_ID, KEY_OF_ORG, REWRAP, STALE, type DataKeyRow } from './envelope.sql';

const NONCE = 12;
const TAG = 16;

/** The place a secret is stored at. A ciphertext opens there and nowhere else, so moving one between rows or tenants gains nothing. */
export interface SecretPlace {
  /** Organization that owns the secret; null for the platform. */
  orgId: string | null;
  table: string;
  column: string;
  rowId: string;
}

/** A stored secret that cannot be opened: altered, moved, or its key is gone. The message names no secret. */
export class DecryptionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecryptionError';
  }
}

function seal(key: KeyObject | Buffer, aad: string, plaintext: Buffer): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(aad));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function open(key: KeyObject | Buffer, aad: string, sealed: Buffer): Buffer {
  if (sealed.length < NONCE + TAG) throw new DecryptionError('The ciphertext is cut off.');
  // The tag's length is fixed here: GCM takes shorter, forgeable ones.
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(aad));
  decipher.setAuthTag(sealed.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    throw new DecryptionError('The ciphertext does not belong to this place or was altered.');
  }
}

// JSON keeps the parts apart: no two places share one text.
const placeAad = (p: SecretPlace) => JSON.stringify(['secret', p.orgId, p.table, p.column, p.rowId]);
const keyAad = (id: string, orgId: string | null) => JSON.stringify(['data_key', id, orgId]);

interface DataKey {
  id: string;
  orgId: string | null;
  key: KeyObject;
  /** Milliseconds since 1970. */
  goodUntil: number;
}

/** Fixed, so that the primary key alone keeps the platform's key from being made twice: null organizations are never unique. */
const PLATFORM_KEY_ID = '00000000-0000-7000-8000-000000000000';

const FORMAT = /^e1\.([0-9a-f-]{36})\.([A-Za-z0-9_-]+)$/;
/** A key that was destroyed with its organization is forgotten by every process within this time. */
const KEY_TTL_MS = 5 * 60_000;
const MAX_CACHED = 10_000;

/**
 * Keeps tenants' secrets: each organization has a data key, every data key is wrapped by a master key that the database never sees.
 *
 * A ciphertext is one string, `e1.<data key id>.<base64url of nonce, ciphertext, tag>`.
 */
@Injectable()
export class EnvelopeCrypto {
  private readonly masters: MasterKeys;
  private readonly newest: number;
  private readonly byId = new Map<string, DataKey>();
  /** Only keys whose row is known to be committed: what is encrypted with a rolled-back key would be lost. */
  private readonly current = new Map<string, DataKey>();

  constructor() {
    this.masters = requireMasterKeys();
    this.newest = Math.max(...this.masters.keys());
  }

  /**
   * @param db the transaction that stores the ciphertext, or the database. A first secret of an organization makes its data key
   *   there too, and both commit or neither does
   */
  async encrypt(db: Db, place: SecretPlace, plaintext: string): Promise<string> {
    const key = await this.currentKey(db, place.orgId);
    return `e1.${key.id}.${seal(key.key, placeAad(place), Buffer.from(plaintext, 'utf8')).toString('base64url')}`;
  }

  /** @throws DecryptionError when the text is no ciphertext of this place, or its key is gone */
  async decrypt(db: Db, place: SecretPlace, ciphertext: string): Promise<string> {
    const [, keyId, sealed] = FORMAT.exec(ciphertext) ?? [];
    if (!keyId || !sealed) throw new DecryptionError('The stored value is no ciphertext.');
    const key = await this.keyById(db, keyId);
    if (key.orgId !== place.orgId) throw new DecryptionError('The ciphertext belongs to another organization.');
    return open(key.key, placeAad(place), Buffer.from(sealed, 'base64url')).toString('utf8');
  }

  /**
   * Wraps data keys of older master keys by the newest one; secrets themselves stay as they are. Safe beside running traffic and
   * beside other calls of itself.
   *
   * @returns how many were re-wrapped; 0 means that older master keys may go
   */
  async rewrap(db: Db, limit = 500): Promise<number> {
    return db.transaction(NO_CALLER, async (tx) => {
      const rows = await tx.query(STALE, [this.newest, limit]);
      for (const row of rows) await tx.execute(REWRAP, [row.id, this.newest, this.wrap(row.id, row.org_id, this.unwrap(row))]);
      return rows.length;
    });
  }

  /** Drops what is cached of data keys. */
  forget(): void {
    this.byId.clear();
    this.current.clear();
  }

  private async currentKey(db: Db, orgId: string | null): Promise<DataKey> {
    const cached = fresh(this.current, orgId ?? '');
    if (cached) return cached;
    // In a transaction, so that "committed" is a moment that can be waited for, whatever the caller handed in.
    return db.transaction(NO_CALLER, async (tx) => {
      const read = () => (orgId === null ? tx.query(KEY_BY_ID, [PLATFORM_KEY_ID]) : tx.query(KEY_OF_ORG, [orgId]));
      let [row] = await read();
      if (!row) {
        const id = orgId === null ? PLATFORM_KEY_ID : uuidv7();
        await tx.execute(INSERT, [id, orgId, this.newest, this.wrap(id, orgId, randomBytes(32))]);
        // Someone else may have been first; whoever lost takes the winner's.
        [row] = await read();
      }
      const key = this.toKey(row);
      tx.afterCommit(() => {
        remember(this.current, orgId ?? '', key);
      });
      return key;
    });
  }

  private async keyById(db: Db, id: string): Promise<DataKey> {
    const cached = fresh(this.byId, id);
    if (cached) return cached;
    const [row] = await db.query(KEY_BY_ID, [id]);
    if (!row) throw new DecryptionError('The data key of this ciphertext is gone.');
    const key = this.toKey(row);
    remember(this.byId, id, key);
    return key;
  }

  private toKey(row: DataKeyRow): DataKey {
    // A KeyObject never shows its bytes when it is printed.
    return { id: row.id, orgId: row.org_id, key: createSecretKey(this.unwrap(row)), goodUntil: Date.now() + KEY_TTL_MS };
  }

  private wrap(id: string, orgId: string | null, key: Buffer): Buffer {
    return seal(this.masters.get(this.newest)!, keyAad(id, orgId), key);
  }

  private unwrap(row: DataKeyRow): Buffer {
    const master = this.masters.get(row.master_version);
    if (!master) throw new DecryptionError(`Master key ${row.master_version} is not configured.`);
    return open(master, keyAad(row.id, row.org_id), row.wrapped_key);
  }
}

function fresh(cache: Map<string, DataKey>, id: string): DataKey | undefined {
  const key = cache.get(id);
  return key && key.goodUntil > Date.now() ? key : undefined;
}

function remember(cache: Map<string, DataKey>, id: string, key: DataKey): void {
  cache.delete(id);
  cache.set(id, key);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
}
