import type { ServerResponse } from 'node:http';
import { ConnectionsHttpModule } from '@aps/connections/http';
import { besideTools, connectManaged } from '@aps/connections/testing';
import { connectionId } from '@aps/contracts';
import { KnowledgeSource, type KnowledgeSync } from '@aps/entities';
import { aMember, aTeam, type Member, type TestTeam } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { Runs } from '@aps/platform/runs';
import { eventually, sql, type Bearer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { startDemoTools } from '../../../../../tools/demo-tools/server';
import { KnowledgeService, type TestBase } from '../testing';
import { SyncKind } from './sync.kind';
import { SyncsMaintenance } from './syncs.maintenance';
import { SyncsRepository } from './syncs.repository';

const t = new (besideTools(KnowledgeService))([ConnectionsHttpModule]);
beforeAll(() => t.start());
afterAll(() => t.close());

const note = (name: string, text: string, more: object = {}) => ({
  uri: `notes://demo/${name}`,
  name,
  mimeType: 'text/plain',
  text,
  ...more,
});
let org: TestTeam;
let admin: Member;
let base: TestBase;
let connection: string;
beforeEach(async () => {
  org = await aTeam(t);
  admin = await aMember(t, org, 'ADMIN');
  base = await t.base(org);
  Object.assign(t.has, {
    before: undefined,
    resources: [note('one', 'One word.'), note('two', 'Two words.'), { uri: 'other://x', name: 'x', text: 'x' }],
  });
  connection = await connect(org.owner, 'org');
});

const connected = async (as: Bearer, scope: 'org' | 'private'): Promise<{ id: string; integration_id: string }> =>
  (await t.make('POST', `${org.path}/connections`, { as, body: { app_key: 'demo', method: 'none', scope } })).connection;
const connect = async (...how: Parameters<typeof connected>) => (await connected(...how)).integration_id;
const body = (integration_id = connection, collection_id = 'notes://demo') => ({ integration_id, collection_id, collection_name: 'Notes' });
const setUp = (as: Bearer = org.member, ...of: Parameters<typeof body>) =>
  t.call('POST', `${base.path}/sync-configs`, { as, body: body(...of) });
const syncs = async () => (await t.asMember(base, 'GET', '/sync-configs')).body;
const over = (id: string) =>
  eventually(
    async () => (await syncs()).find((sync: { id: string }) => sync.id === id),
    ({ status }) => !['PENDING', 'SYNCING'].includes(status as string),
  );
const again = async (id: string) => {
  expect((await t.asMember(base, 'POST', `/sync-configs/${id}/sync`)).status).toBe(200);
  return over(id);
};
const sources = async () => {
  const all = (await t.asMember(base, 'GET', '/sources')).body as { id: string; title: string; remote_id: string }[];
  return all.sort((a, b) => (a.remote_id < b.remote_id ? -1 : 1));
};
const said = async () => {
  const found: Record<string, string> = {};
  for (const { id, title } of await sources()) {
    await t.settled(base, id);
    found[title] = (await t.chunks(base, id)).join();
  }
  return found;
};
/** A base that has what the collection has. */
const kept = async () => {
  const { id } = (await setUp()).body as { id: string };
  await over(id);
  await said();
  return id;
};
/** Gives a source more pieces than are deleted at once, and something that stands below it, so that it cannot be deleted. @returns that */
const manyPieces = async (source_id: string) => {
  const of = { org_id: org.id, kb_id: base.id };
  await t.db.execute(
    sql(`INSERT INTO knowledge_chunks (id, org_id, kb_id, source_id, position, content, heading_path, char_start, char_end, token_count, words)
      SELECT gen_random_uuid(), $1, $2, $3, n, 'x', '{}', 0, 1, 1, '' FROM generate_series(1, 6000) n`),
    [of.org_id, of.kb_id, source_id],
  );
  const id = uuidv7();
  const below = { kind: 'document' as const, title: 'Below', position: 1, version: 1, parent_id: source_id };
  await t.insert(KnowledgeSource, { ...of, ...below, id, status: 'ready', finished_at: new Date() });
  return id;
};
const stats = (added: number, updated: number, deleted: number, unchanged: number) => ({ added, updated, deleted, unchanged });

describe('collections of connections', () => {
  it('are what its server has of one scheme and one authority', async () => {
    const { status, body: found } = await t.call('GET', `${org.path}/knowledge/integrations/${connection}/collections`, { as: org.member });
    expect([status, found]).toEqual([
      200,
      [
        { id: 'notes://demo', name: 'notes://demo', kind: 'resources', parent_id: null, item_count: 2 },
        { id: 'other://x', name: 'other://x', kind: 'resources', parent_id: null, item_count: 1 },
      ],
    ]);
  });

  it('are there for who sees the connection, and where its server has any', async () => {
    const mine = await connect(org.owner, 'private');
    const at = (id: string, as: Bearer) => t.call('GET', `${org.path}/knowledge/integrations/${id}/collections`, { as });
    expect([(await at(mine, admin)).status, (await at(mine, org.owner)).status]).toEqual([404, 200]);
    expect([(await setUp(admin, mine)).status, (await setUp(org.owner, mine)).status]).toEqual([404, 201]);
    t.has.before = (_request, response) => !!response.writeHead(500).end();
    expect(await at(connection, org.member)).toMatchObject({ status: 502, body: { code: 'upstream_unavailable' } });
    // Which is not asked for a base that is not there.
    const nowhere = `${org.path}/knowledge/${uuidv7()}/sync-configs`;
    expect((await t.call('POST', nowhere, { as: org.member, body: body() })).status).toBe(404);
    await t.db.execute(sql(`UPDATE connections SET knowledge_capable = false WHERE id = $1`), [connection]);
    expect(await at(connection, org.member)).toMatchObject({ status: 422, body: { code: 'not_knowledge_capable' } });
    await t.db.execute(sql(`UPDATE connections SET status = 'expired' WHERE id = $1`), [connection]);
    expect(await at(connection, org.member)).toMatchObject({ status: 422, body: { code: 'reconnect_required' } });
  });
});

it('a connection is named by either of its ids', async () => {
  const { id, integration_id } = await connected(org.owner, 'org');
  expect((await t.call('GET', `${org.path}/knowledge/integrations/${id}/collections`, { as: org.member })).status).toBe(200);
  expect(await setUp(org.member, id)).toMatchObject({ status: 201, body: { integration_id } });
  expect((await setUp(org.member, connectionId(uuidv7()))).status).toBe(404);
  expect((await setUp(org.member, '\0')).status).toBe(422);
});

it('a managed app that says by which tools it is read has a collection as any other', async () => {
  const demo = await startDemoTools();
  try {
    t.configure({ DEMO_APPS_URL: new URL(demo.url).origin });
    const { integration_id } = await connectManaged(t, org, org.owner, { app_key: 'demo-drive', scope: 'org' });
    const made = await t.call('POST', `${base.path}/sync-configs`, { as: org.member, body: body(integration_id, 'drive://demo') });
    expect(await over(made.body.id as string)).toMatchObject({ status: 'OK', stats: stats(2, 0, 0, 0) });
    expect(await said()).toMatchObject({ 'menu.md': expect.stringContaining('On Fridays there is fish.') });
  } finally {
    t.configure({ DEMO_APPS_URL: undefined });
    await demo.close();
  }
});

describe('a base that keeps up with a collection', () => {
  it('has a source of each of its resources, and all that it has from then on', async () => {
    const { status, body: made } = await setUp();
    expect([status, made]).toMatchObject([
      201,
      {
        ...{ kb_id: base.id, integration_id: connection, collection_id: 'notes://demo', collection_name: 'Notes', status: 'PENDING' },
        ...{ last_sync_at: null, next_sync_at: null, last_error: null, stats: stats(0, 0, 0, 0) },
      },
    ]);
    const first = await over(made.id);
    expect(first).toMatchObject({ status: 'OK', last_error: null, stats: stats(2, 0, 0, 0) });
    expect(Date.parse(first.next_sync_at) - Date.parse(first.last_sync_at)).toBe(3_600_000);
    expect(await said()).toEqual({ one: 'One word.', two: 'Two words.' });
    expect((await sources())[0]).toMatchObject({
      kind: 'synced',
      sync_config_id: made.id,
      remote_id: 'notes://demo/one',
      media_type: 'text/plain',
    });

    t.has.resources = [note('two', 'Two other words.'), note('three', 'Three words.')];
    expect(await again(made.id)).toMatchObject({ status: 'OK', stats: stats(1, 1, 1, 0) });
    expect(await said()).toEqual({ two: 'Two other words.', three: 'Three words.' });

    t.has.resources = [note('two', 'Two other words.'), { ...note('three', 'Three words.'), name: 'drei' }];
    expect(await again(made.id)).toMatchObject({ stats: stats(0, 1, 0, 1) });
    expect(await said()).toEqual({ two: 'Two other words.', drei: 'Three words.' });
  });

  it('does not read what its server says was not changed', async () => {
    t.has.resources = [note('one', 'One word.', { annotations: { lastModified: '2026-01-01T00:00:00Z' } }), note('two', 'Two words.')];
    const id = await kept();
    t.server.seen.length = 0;
    expect(await again(id)).toMatchObject({ stats: stats(0, 0, 0, 2) });
    expect(t.server.methods().filter((method) => method === 'resources/read')).toHaveLength(1);
  });

  it('does not read again what cannot be read and was not changed, nor what waits to be read', async () => {
    const at = (lastModified: string) => ({ annotations: { lastModified } });
    const photo = (lastModified: string) => ({
      ...note('photo', '', at(lastModified)),
      mimeType: 'image/png',
      text: undefined,
      blob: 'iVBORw0KGgo=',
    });
    t.has.resources = [photo('2026-01-01T00:00:00Z'), note('one', 'One word.')];
    const id = await kept();
    const failed = (await sources()).find(({ title }) => title === 'photo')!;
    expect(await t.settled(base, failed.id)).toMatchObject({ status: 'FAILED', error: { code: 'unsupported_type' } });
    await t.db.execute(
      sql(
        `UPDATE knowledge_sources SET status = 'queued', finished_at = NULL, remote_hash = NULL, dispatched_at = now() WHERE kb_id = $1 AND title = 'one'`,
      ),
      [base.id],
    );
    t.server.seen.length = 0;
    expect(await again(id)).toMatchObject({ stats: stats(0, 0, 0, 2) });
    expect(t.server.methods()).not.toContain('resources/read');
    t.has.resources = [photo('2026-01-02T00:00:00Z')];
    expect(await again(id)).toMatchObject({ stats: stats(0, 1, 1, 0) });
    expect(await t.settled(base, failed.id)).toMatchObject({ status: 'FAILED' });
  });

  it('begins by itself when an hour is over, and not before', async () => {
    const id = await kept();
    t.has.resources!.push(note('three', 'Three words.'));
    const due = () => t.get(SyncsRepository).beginDue(10);
    expect(await due()).toBe(0);
    await t.db.execute(sql(`UPDATE knowledge_syncs SET next_sync_at = now() WHERE id = $1`), [id]);
    expect(await due()).toBe(1);
    expect(await over(id)).toMatchObject({ status: 'OK', stats: stats(1, 0, 0, 2) });
  });

  it('has a collection once, and no collection that is not there', async () => {
    await kept();
    expect(await setUp()).toMatchObject({ status: 409, body: { code: 'already_synced' } });
    const other = await t.asMember(base, 'POST', '/sync-configs', body(connection, 'notes://other'));
    expect(other).toMatchObject({ status: 422, body: { code: 'unknown_reference', detail: [{ loc: ['body', 'collection_id'] }] } });
  });

  it('keeps all that it has where the server fails, or lists too much', async () => {
    const id = await kept();
    t.has.before = (_request, response, rpc) => rpc === 'resources/list' && !!response.writeHead(500).end();
    expect(await again(id)).toMatchObject({ status: 'FAILED', last_error: 'server_failed', stats: stats(0, 0, 0, 0) });
    t.has.before = undefined;
    const many = (of: string) => Array.from({ length: 10_001 }, (_, i) => ({ uri: `${of}/${i}`, name: `${i}`, text: '' }));
    t.has.resources = many('notes://demo');
    expect(await again(id)).toMatchObject({ status: 'FAILED', last_error: 'too_many_items' });
    expect(await said()).toEqual({ one: 'One word.', two: 'Two words.' });
    // What else its server has does not count.
    t.has.resources = [...many('notes://other'), note('one', 'One word.')];
    expect(await again(id)).toMatchObject({ status: 'OK', stats: stats(0, 0, 1, 1) });
  });

  it('tells of a resource that is listed and cannot be read, and keeps what it was', async () => {
    const id = await kept();
    t.has.unreadable = ['notes://demo/one'];
    expect(await again(id)).toMatchObject({ status: 'OK', stats: stats(0, 1, 0, 1) });
    const [one] = await sources();
    expect(await t.settled(base, one.id)).toMatchObject({
      status: 'FAILED',
      chunk_count: 1,
      error: { code: 'remote_gone', stage: 'fetch' },
    });
    t.has.unreadable = [];
    expect(await again(id)).toMatchObject({ stats: stats(0, 1, 0, 1) });
    expect(await t.settled(base, one.id)).toMatchObject({ status: 'READY', error: null });
  });

  it.each([
    ['is answered by 500', (response: ServerResponse) => response.writeHead(500).end()],
    ['breaks off', (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(':\n\n')],
  ])('tells of a resource whose reading %s, and goes on with the others', async (_what, answer) => {
    const id = await kept();
    t.has.before = (_request, response) => t.server.seen.at(-1)!.params?.uri === 'notes://demo/one' && !!answer(response);
    t.has.resources = [note('one', 'One word.'), note('two', 'Two other words.')];
    expect(await again(id)).toMatchObject({ status: 'OK', stats: stats(0, 2, 0, 0) });
    expect(await said()).toEqual({ one: 'One word.', two: 'Two other words.' });
    const [one] = await sources();
    expect(await t.source(base, one.id)).toMatchObject({ status: 'FAILED', error: { code: 'fetch_failed', stage: 'fetch' } });
    t.has.before = undefined;
    expect(await again(id)).toMatchObject({ stats: stats(0, 1, 0, 1) });
    expect(await t.settled(base, one.id)).toMatchObject({ status: 'READY', error: null });
  });

  it('fails where its server reads none of several', async () => {
    t.has.resources = Array.from({ length: 6 }, (_, i) => note(`${i}`, `Words ${i}.`));
    const id = await kept();
    t.has.before = (_request, response, rpc) => rpc === 'resources/read' && !!response.writeHead(500).end();
    expect(await again(id)).toMatchObject({ status: 'FAILED', last_error: 'server_failed', stats: stats(0, 0, 0, 0) });
  });

  it('pauses while its connection is not asked, and goes on after', async () => {
    const id = await kept();
    const set = (status: string) => t.call('PATCH', `${org.path}/connections/${connection}`, { as: org.owner, body: { status } });
    await set('disabled');
    expect((await syncs())[0]).toMatchObject({ status: 'PAUSED', last_error: 'connection_disabled' });
    expect((await t.asMember(base, 'POST', `/sync-configs/${id}/sync`)).body).toMatchObject({ status: 'PAUSED', stats: stats(2, 0, 0, 0) });
    expect(await said()).toEqual({ one: 'One word.', two: 'Two words.' });
    await set('active');
    expect(await again(id)).toMatchObject({ status: 'OK', last_error: null, stats: stats(0, 0, 0, 2) });
    await t.db.execute(sql(`UPDATE connections SET status = 'expired' WHERE id = $1`), [connection]);
    expect((await syncs())[0]).toMatchObject({ status: 'PAUSED', last_error: 'connection_expired' });
  });

  it('is what a connection is used by, and paused when that is gone or somebody’s own', async () => {
    const id = await kept();
    const share = (scope: string, more: object = {}) =>
      t.call('PATCH', `${org.path}/connections/${connection}/scope`, { as: org.owner, body: { scope, ...more } });
    expect(await share('private')).toMatchObject({ status: 409, body: { code: 'has_dependents', context: { sync_config_ids: [id] } } });
    await share('private', { acknowledge_dependents: true });
    expect((await syncs())[0]).toMatchObject({ status: 'PAUSED', last_error: 'connection_gone' });
    await share('org');
    expect((await syncs())[0]).toMatchObject({ status: 'OK' });
    await t.call('DELETE', `${org.path}/connections/${connection}?acknowledge_dependents=true`, { as: org.owner });
    expect((await syncs())[0]).toMatchObject({ status: 'PAUSED', last_error: 'connection_gone' });
    expect(await said()).toEqual({ one: 'One word.', two: 'Two words.' });
  });

  it('goes by a private connection on behalf of who set it up, and of nobody else', async () => {
    const mine = await connect(admin, 'private');
    const { id } = (await setUp(admin, mine)).body as { id: string };
    expect(await over(id)).toMatchObject({ status: 'OK', stats: stats(2, 0, 0, 0) });
    await t.db.execute(sql(`UPDATE connections SET owner_user_id = $2 WHERE id = $1`), [mine, org.owner.id]);
    expect((await syncs())[0]).toMatchObject({ status: 'PAUSED', last_error: 'connection_gone' });
  });

  it('lets go of a collection with all that came by it', async () => {
    const id = await kept();
    const text = (await t.text(base, 'Mine', 'Words.')) as { id: string };
    expect((await t.asMember(base, 'DELETE', `/sync-configs/${id}`)).status).toBe(204);
    expect([await syncs(), (await sources()).map((source) => source.id)]).toEqual([[], [text.id]]);
    expect((await t.asMember(base, 'DELETE', `/sync-configs/${id}`)).status).toBe(404);
    await setUp();
  });

  it('has the rest of it deleted where whoever did so died', async () => {
    const id = await kept();
    await t.db.execute(sql(`UPDATE knowledge_syncs SET deleted_at = now() - interval '2 minutes' WHERE id = $1`), [id]);
    expect(await syncs()).toEqual([]);
    // One that cannot be deleted keeps no other from it.
    const { id: next } = (await setUp(org.member, connection, 'other://x')).body as { id: string };
    await over(next);
    await t.db.execute(sql(`UPDATE knowledge_syncs SET deleted_at = now() - interval '2 minutes' WHERE id = $1`), [next]);
    const left = async () => (await t.db.query(sql<{ id: string }>('SELECT id FROM knowledge_syncs WHERE id = ANY ($1)'), [[id, next]])).map((row) => row.id); // prettier-ignore
    const forgetLeft = () => t.get(SyncsMaintenance).forgetLeft();
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT FROM knowledge_sources WHERE sync_config_id = $1 FOR UPDATE'), [id]);
      await expect(forgetLeft()).rejects.toThrow();
      expect([await forgetLeft(), await left(), await forgetLeft()]).toEqual([1, [id], 0]);
    });
    expect([await forgetLeft(), await sources(), await left()]).toEqual([1, [], []]);
  });

  it('deletes no more pieces at once than it has time for', async () => {
    const id = await kept();
    const { id: one } = (await sources())[0];
    const child = await manyPieces(one);
    await t.db.execute(sql('DELETE FROM knowledge_sources WHERE id = $1'), [child]);
    t.has.resources = [note('two', 'Two words.')];
    expect(await again(id)).toMatchObject({ status: 'OK', stats: stats(0, 0, 1, 1) });
    const [{ steps_done }] = await t.db.query(sql<{ steps_done: number }>('SELECT steps_done FROM knowledge_syncs WHERE id = $1'), [id]);
    expect([steps_done, (await sources()).length]).toEqual([4, 1]);
  });
});

describe('a synchronisation whose worker dies', () => {
  it('is gone on with where it was, and counts nothing twice', async () => {
    const id = await kept();
    t.has.resources = [note('one', 'One word.'), note('two', 'Two new words.'), note('three', 'Three words.')];
    // As it stands when the first of two steps is done: one of them is seen, and its owner silent.
    await t.db.execute(
      sql(`UPDATE knowledge_syncs SET status = 'running', finished_at = NULL, round = round + 1, added = 0, updated = 0, unchanged = 1, lease_owner = 'dead',
             lease_expires_at = now() - interval '1 minute', deliveries = 1 WHERE id = $1`),
      [id],
    );
    await t.db.execute(
      sql(
        `UPDATE knowledge_sources k SET sync_round = s.round FROM knowledge_syncs s WHERE s.id = k.sync_config_id AND k.sync_config_id = $1 AND k.title = 'one'`,
      ),
      [id],
    );
    const kind = t.get(SyncKind);
    await kind.rows.wakeUnowned(t.db);
    expect(await over(id)).toMatchObject({ status: 'OK', stats: stats(1, 1, 0, 1) });
    expect(await said()).toEqual({ one: 'One word.', two: 'Two new words.', three: 'Three words.' });
  });

  it('reads again what it had begun to delete, and is there again', async () => {
    const id = await kept();
    const { id: one } = (await sources())[0];
    const child = await manyPieces(one);
    const [run] = await t.db.query(
      sql<KnowledgeSync>(`UPDATE knowledge_syncs SET status = 'running', finished_at = NULL, round = round + 1, lease_owner = 'dead', lease_expires_at = now() - interval '1 minute',
        deliveries = 1 WHERE id = $1 RETURNING *`),
      [id],
    );
    await expect(t.get(SyncsRepository).finish(run, run)).rejects.toThrow();
    expect(await t.chunks(base, one)).not.toContain('One word.');
    await t.db.execute(sql('DELETE FROM knowledge_sources WHERE id = $1'), [child]);
    await t.get(SyncKind).rows.wakeUnowned(t.db);
    expect(await over(id)).toMatchObject({ status: 'OK' });
    expect(await said()).toEqual({ one: 'One word.', two: 'Two words.' });
  });

  it('has half an hour in all, and goes on the next time with what it has not seen', async () => {
    t.has.resources = [note('one', 'One word.'), note('two', 'Two words.'), note('old', 'Old words.')];
    const id = await kept();
    await t.db.execute(
      sql(`UPDATE knowledge_syncs SET status = 'running', finished_at = NULL, started_at = now() - interval '30 minutes', lease_owner = 'dead', round = round + 1,
             lease_expires_at = now() - interval '1 minute', deliveries = 1, added = 0, unchanged = 1 WHERE id = $1`),
      [id],
    );
    await t.db.execute(
      sql(
        `UPDATE knowledge_sources k SET sync_round = s.round FROM knowledge_syncs s WHERE s.id = k.sync_config_id AND k.sync_config_id = $1 AND k.title = 'one'`,
      ),
      [id],
    );
    await t.get(SyncKind).rows.wakeUnowned(t.db);
    expect(await over(id)).toMatchObject({ status: 'FAILED', last_error: 'timeout', stats: stats(0, 0, 0, 1) });
    t.has.resources = [note('one', 'One word.'), note('two', 'Two new words.')];
    t.server.seen.length = 0;
    expect(await again(id)).toMatchObject({ status: 'OK', stats: stats(0, 1, 1, 1) });
    expect(t.server.seen.filter(({ params }) => params?.uri === 'notes://demo/one')).toEqual([]);
    // The round is over: the next one sees all of it again.
    expect(await again(id)).toMatchObject({ status: 'OK', stats: stats(0, 0, 0, 2) });
  });

  it('is given up after three', async () => {
    const id = await kept();
    await t.db.execute(
      sql(
        `UPDATE knowledge_syncs SET status = 'running', finished_at = NULL, deliveries = 3, lease_expires_at = now() - interval '1 minute' WHERE id = $1`,
      ),
      [id],
    );
    expect(await t.get(Runs).claim(t.get(SyncKind), { org_id: org.id, sync_id: id })).toBeNull();
    expect((await syncs())[0]).toMatchObject({ status: 'FAILED', last_error: 'worker_lost' });
  });
});
