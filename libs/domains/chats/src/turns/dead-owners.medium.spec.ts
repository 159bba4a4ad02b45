import { RunOwnerRow, Turn } from '@aps/entities';
import { OutboxRelay } from '@aps/platform/outbox';
import { RunOwner, RunReaper, Runs } from '@aps/platform/runs';
import { ProcessIdentity } from '@aps/platform/runtime';
import { ownersAreBelieved, sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import type { Client } from 'pg';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';
import { TurnKind } from './turn.kind';
import { TurnRepository, type TurnAnswer } from './turn.repository';

const app = chatsService();
let org: TestOrg;
beforeAll(() => ownersAreBelieved(app.db));
beforeEach(async () => (org = await app.org()));
const held: (() => void)[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  for (const letGo of held.splice(0)) letGo();
});

const replies = ({ messages }: { messages?: unknown }) =>
  (messages as { role: string; content: string }[]).flatMap((m) => (m.role === 'assistant' ? m.content : []));

/** Another worker, as far as PostgreSQL sees it. It has another name than was meant for it where its first session was not there in time. */
async function anOwner(
  id: string,
  of = app.get(ProcessIdentity).app,
): Promise<{ name: string; die: () => Promise<void>; leave: () => void }> {
  const owner = new RunOwner({ id, app: of } as ProcessIdentity);
  await owner.named();
  const session = await eventually(
    () => Promise.resolve((owner as unknown as { session?: { client: Client } }).session),
    (one) => one !== undefined,
  );
  // It takes no other session.
  const leave = () => owner.beforeApplicationShutdown();
  return {
    name: owner.name!,
    leave,
    die: () => {
      leave();
      return session!.client.end();
    },
  };
}

/** A turn that another worker has claimed, and whose delivery the queue believes to be under way. */
async function heldBy(name: string): Promise<{ chat: string; claim: TurnAnswer }> {
  const inert = jest.spyOn(app.get(Runs), 'run').mockImplementation(() => new Promise((resolve) => held.push(resolve)));
  const chat = await app.chat(org);
  const { turn_id } = (await app.send(org, chat, 'hello')).body as { turn_id: string };
  await eventually(
    () => Promise.resolve(inert.mock.calls.length),
    (n) => n > 0,
  );
  const claim = await app.get(TurnKind).claimAhead({ run_id: turn_id, key: chat, worker: name, cap: -1, at: new Date() });
  await claim!.committed;
  inert.mockRestore();
  return { chat, claim: claim!.answer };
}

const turn = (id: string) => app.db.manager.findOneByOrFail(Turn, { id });
const isKnown = (owner: string) => app.db.manager.existsBy(RunOwnerRow, { owner });

/** Breaks off the sessions of all owners, as a failover does. @returns the new name of this one */
async function breakOff(): Promise<string> {
  const self = app.get(RunOwner);
  const name = self.name;
  await app.db.query(
    sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'aps-run-owner' AND datname = current_database()`),
  );
  // One that it goes by until its session is there is not known.
  await eventually(
    async () => self.name !== undefined && self.name !== name && (await isKnown(self.name)),
    (isNamed) => isNamed,
  );
  return self.name!;
}

describe('the runs of a worker', () => {
  it('that dies go on elsewhere, long before their leases run out', async () => {
    const owner = await anOwner('dies');
    const { chat, claim } = await heldBy(owner.name);
    await owner.die();
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
    const after = await turn(claim.id);
    expect([after.status, BigInt(after.fence) > BigInt(claim.fence)]).toEqual(['done', true]);
    expect(await isKnown(owner.name)).toBe(false);
  });

  it('that lives, or only stands still, are left alone', async () => {
    const owner = await anOwner('lives');
    const { chat, claim } = await heldBy(owner.name);
    await app.get(RunReaper).reap();
    expect(await turn(claim.id)).toMatchObject({ status: 'running', lease_owner: owner.name, fence: claim.fence });
    expect(await isKnown(owner.name)).toBe(true);
    await owner.die();
    await app.settled(org, chat, 1);
  });

  it('that dies over them a second time in a row are left to their leases: they may be why', async () => {
    const owner = await anOwner('dies again');
    const { chat, claim } = await heldBy(owner.name);
    await app.db.execute(sql('UPDATE turns SET deliveries = 2 WHERE id = $1'), [claim.id]);
    await owner.die();
    await eventually(
      () => isKnown(owner.name),
      (known) => !known,
    );
    expect(await turn(claim.id)).toMatchObject({ status: 'running', lease_owner: owner.name, fence: claim.fence });
    await app.expireLease(chat);
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
  });

  it('of another app are left to its own, which know all kinds of them', async () => {
    const owner = await anOwner('of another app', 'another-app');
    const { chat, claim } = await heldBy(owner.name);
    await owner.die();
    await app.get(RunReaper).reap();
    expect(await turn(claim.id)).toMatchObject({ status: 'running', lease_owner: owner.name, fence: claim.fence });
    expect(await isKnown(owner.name)).toBe(true);
    await app.expireLease(chat);
    await app.settled(org, chat, 1);
  });

  it('that has no session are left to their leases', async () => {
    const { chat, claim } = await heldBy('nobody');
    await app.get(RunReaper).reap();
    expect(await turn(claim.id)).toMatchObject({ status: 'running', lease_owner: 'nobody' });
    await app.expireLease(chat);
    await app.settled(org, chat, 1);
  });

  it('are given away once, however many notice its death', async () => {
    const owner = await anOwner('noticed');
    const { chat, claim } = await heldBy(owner.name);
    await owner.die();
    await Promise.all(Array.from({ length: 8 }, () => app.get(RunReaper).reap()));
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
    expect(await turn(claim.id)).toMatchObject({ status: 'done', steps_done: 1 });
  });

  it('whose session is broken off go on under its new name, and no claim is made without one', async () => {
    const { name } = app.get(RunOwner);
    const chat = await app.chat(org);
    const held = script({ text: 'one two three', chunk_delay_ms: HELD });
    await app.send(org, chat, held);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    const renamed = await breakOff();
    expect(renamed).toMatch(/#\d+$/);
    app.letGo(held);
    expect(replies(await app.settled(org, chat, 1))).toEqual(['one two three']);
    const next = await app.chat(org);
    const four = script({ text: 'four', delay_ms: HELD });
    await app.send(org, next, four);
    await eventually(
      () => app.db.query(sql<{ lease_owner: string | null }>('SELECT lease_owner FROM turns WHERE chat_id = $1'), [next]),
      ([row]) => row.lease_owner === renamed,
    );
    app.letGo(four);
    await app.settled(org, next, 1);
    await eventually(
      () => isKnown(name!),
      (known) => !known,
    );
    expect(await isKnown(renamed)).toBe(true);
  });

  it('are left alone when all sessions have gone at once, until those of the living have had time to come back', async () => {
    const owner = await anOwner('of before');
    const { chat, claim } = await heldBy(owner.name);
    owner.leave();
    await breakOff();
    await app.get(RunReaper).reap();
    expect(await turn(claim.id)).toMatchObject({ status: 'running', lease_owner: owner.name, fence: claim.fence });
    expect(await isKnown(owner.name)).toBe(true);
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
    expect(await isKnown(owner.name)).toBe(false);
  });

  it('that shuts down go on elsewhere at once: neither relay nor sweep nor queue is waited for', async () => {
    const { chat, claim } = await heldBy('leaves');
    jest.spyOn(app.get(OutboxRelay), 'publishDue').mockResolvedValue([]);
    await app.get(TurnRepository).runs.handBack(app.db, claim);
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: hello']);
  });
});
