import { FilesModule, FilesService } from '@aps/files';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { InferenceRoute, KnowledgeBase, KnowledgeSource, ModelCatalogEntry } from '@aps/entities';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import { NO_CALLER } from '@aps/platform/database';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { ObjectStorage } from '@aps/platform/storage';
import { sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { DeletedOrganizations, DeletedOrganizationsModule } from './deleted-organizations';

describe('deleted organizations', () => {
  const t = testService([...BASE_MODULES, MaintenanceModule, FilesModule, DeletedOrganizationsModule]);
  const placeOf = ({ id: orgId }: TestTeam) => ({ orgId, table: 'connections', column: 'credential', rowId: 'x' });
  /** Of a team, with a secret, a file that is referred to, and a model and a route of its own. */
  const aTenant = async () => {
    const org = await aTeam(t);
    const secret = await t.get(EnvelopeCrypto).encrypt(t.db, placeOf(org), 'a secret');
    const incoming = { filename: 'a.txt', bytes: Readable.from(['hello']), complete: Promise.resolve() };
    const file = await t.get(FilesService).upload(org.scope, incoming);
    await t.db.transaction(NO_CALLER, (tx) => t.get(FilesService).link(tx, org.scope, { kind: 'shelf', id: org.id }, [file.id]));
    const of = { org_id: org.id };
    const kb_id = await t.insert(KnowledgeBase, { ...of, slug: 'rules', name: 'Rules' });
    const read = { kind: 'file' as const, title: 'a.txt', status: 'ready' as const, finished_at: new Date() };
    await t.insert(KnowledgeSource, { ...of, ...read, kb_id, file_id: file.id });
    const owner_org_id = org.id;
    const route_id = await t.insert(InferenceRoute, { slug: `own-${uuidv7()}`, label: 'Ours', dialect: 'dialect_1', owner_org_id });
    await t.insert(ModelCatalogEntry, { owner_org_id, key: uuidv7(), route_id, label: 'Ours', provider: 'x' });
    return { org, secret, file };
  };
  type Tenant = Awaited<ReturnType<typeof aTenant>>;
  const deleted = ({ org }: Tenant, days: number) =>
    t.db.execute(sql('UPDATE organizations SET deleted_at = now() - make_interval(days => $2) WHERE id = $1'), [org.id, days]);
  const erase = async () => {
    const gone = await t.get(DeletedOrganizations).erase(10);
    t.get(EnvelopeCrypto).forget();
    await t.get(FilesService).removeExpired(10);
    return gone;
  };
  /** What of it is there. */
  const left = async ({ org, secret, file }: Tenant) => ({
    secret: await t
      .get(EnvelopeCrypto)
      .decrypt(t.db, placeOf(org), secret)
      .catch((error: Error) => error.message),
    bytes: await t.get(ObjectStorage).exists(file.storage_key),
    rows: (
      await t.db.query(
        sql<{
          n: number;
        }>(`SELECT ((SELECT count(*) FROM files WHERE org_id = $1) + (SELECT count(*) FROM inference_routes WHERE owner_org_id = $1)
          + (SELECT count(*) FROM model_catalog WHERE owner_org_id = $1))::int AS n`),
        [org.id],
      )
    )[0].n,
  });
  const all = { secret: 'a secret', bytes: true, rows: 3 };

  it('lose secrets, files, own models and routes when their time is up, and nobody else anything', async () => {
    const [gone, recent, live] = [await aTenant(), await aTenant(), await aTenant()];
    await deleted(gone, 31);
    await deleted(recent, 29);
    expect(await erase()).toBe(1);
    expect(await left(gone)).toEqual({ secret: 'The data key of this ciphertext is gone.', bytes: false, rows: 0 });
    expect([await left(recent), await left(live)]).toEqual([all, all]);
    expect(await erase()).toBe(0);
  });

  it('keep the key by which an account elsewhere is found, until it is forgotten there, or could not be for as long again', async () => {
    const [tenant, damaged] = [await aTenant(), await aTenant()];
    await deleted(tenant, 59);
    await deleted(damaged, 61);
    const { id } = tenant.org;
    for (const { org } of [tenant, damaged])
      await t.db.execute(
        sql(
          `INSERT INTO connections (id, org_id, slug, label, app_key, provider_key, method, status, consent) VALUES ($1, $2, 'crm', 'CRM', 'crm', 'crm', 'oauth2', 'active', '')`,
        ),
        [uuidv7(), org.id],
      );
    await erase();
    expect(await left(tenant)).toMatchObject({ secret: 'a secret', bytes: false });
    expect(await left(damaged)).toMatchObject({ secret: 'The data key of this ciphertext is gone.' });
    await t.db.execute(sql('UPDATE connections SET consent = NULL WHERE org_id = $1'), [id]);
    await erase();
    expect(await left(tenant)).toMatchObject({ secret: 'The data key of this ciphertext is gone.' });
  });
});
