import type { TestOrg } from '@aps/chats/testing';
import { FilesHttpModule } from '@aps/files/http';
import { sql } from '@aps/platform/testing';
import { inboxesService, type TestInbox } from '../testing';
import { Retention } from './retention';

const t = inboxesService({}, [FilesHttpModule]);
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org, { target_kind: null, target_id: null });
});

const file = (name: string) => ({ filename: name, content: Buffer.from(`of ${name}`) });
const envelope = async (id: string) =>
  (
    await t.db.query(
      sql<{ headers: object; body_text: string; payload: unknown; attachments: { file_id: string }[] }>(
        'SELECT * FROM inbox_envelopes WHERE message_id = $1',
      ),
      [id],
    )
  )[0];
const expire = (id: string) =>
  t.db.execute(sql(`UPDATE inbox_messages SET raw_expires_at = now() - interval '1 second' WHERE id = $1`), [id]);
const open = (fileId: string, as = org.member) => t.call('GET', `/api/orgs/${org.id}/files/${fileId}`, { as });
const forget = () => t.get(Retention).forgetExpired(100);

describe('what a message says', () => {
  it('is forgotten when its time is over, but for the beginning of its text', async () => {
    const message = { body_text: 'x'.repeat(5_000), headers: { subject: 'x' }, payload: { a: 1 }, files: [file('a.txt')] };
    const [old, young] = [await t.hook(inbox, message), await t.hook(inbox, message)];
    await Promise.all([old, young].map((id) => t.evaluated(id)));
    await expire(old);
    const [{ file_id: gone }] = (await envelope(old)).attachments;
    expect((await open(gone)).status).toBe(200);
    expect(await forget()).toBe(1);
    expect(await envelope(old)).toMatchObject({ headers: {}, body_text: 'x'.repeat(2_000), payload: null, attachments: [] });
    expect(await envelope(young)).toMatchObject({ body_text: message.body_text, payload: { a: 1 } });
    expect((await open(gone)).status).toBe(404);
    expect((await open((await envelope(young)).attachments[0].file_id)).status).toBe(200);
    expect(await forget()).toBe(0);
  });

  it('stays where a chat refers to it', async () => {
    await t.call('PATCH', inbox.path, { as: org.owner, body: { target_kind: 'agent', target_id: org.agentId } });
    const id = await t.mail(inbox, { files: [file('b.txt')] });
    await t.evaluated(id);
    const [{ file_id }] = (await envelope(id)).attachments;
    await expire(id);
    expect(await forget()).toBe(1);
    expect((await open(file_id)).status).toBe(200);
  });

  it('leaves who took part in its thread with it, and says no more who they are', async () => {
    await t.call('PATCH', inbox.path, { as: org.owner, body: { target_kind: 'agent', target_id: org.agentId } });
    const carl = 'carl@acme.com';
    const id = await t.mail(inbox, { message_id: 'm1@acme.com', participants: ['ann@acme.com', carl] });
    const chat = (await t.evaluated(id)).dispatched!.chat_id;
    await t.settled(org, chat, 1);
    await expire(id);
    expect(await forget()).toBe(1);
    expect(JSON.stringify(await envelope(id))).not.toContain(carl);
    const answer = async (address: string) => {
      const mail = { sender: { address, name: null }, references: ['m1@acme.com'], participants: [address] };
      return (await t.evaluated(await t.mail(inbox, mail))).dispatched!.chat_id === chat;
    };
    expect([await answer('eve@evil.com'), await answer(carl)]).toEqual([false, true]);
  });

  it('is nobody else’s to open', async () => {
    const id = await t.mail(inbox, { files: [file('c.txt')] });
    const [{ file_id }] = (await envelope(id)).attachments;
    const other = await t.org();
    expect((await t.call('GET', `/api/orgs/${other.id}/files/${file_id}`, { as: other.owner })).status).toBe(404);
  });

  it('is nobody’s to open when its inbox is deleted', async () => {
    const id = await t.mail(inbox, { files: [file('d.txt')] });
    const [{ file_id }] = (await envelope(id)).attachments;
    expect((await open(file_id)).status).toBe(200);
    await t.db.execute(sql('UPDATE inboxes SET deleted_at = now() WHERE id = $1'), [inbox.id]);
    expect((await open(file_id)).status).toBe(404);
  });
});
