import { Logger } from '@nestjs/common';
import { Outbox } from '@aps/platform/outbox';
import { sql } from '@aps/platform/testing';
import { chatsService, type TestOrg } from './testing/chats';

/** More than go without a priority. */
const FLOOD = 160;

describe('one organization beside the flood of another', () => {
  // A worker takes up more than all of this at once: in which order they are then begun says nothing of the queue.
  const app = chatsService({ CONCURRENCY_TURNS: '8' });
  let flooding: TestOrg;
  let other: TestOrg;

  beforeAll(async () => {
    [flooding, other] = [await app.org(), await app.org()];
  });

  it('comes before what the other has too much of', async () => {
    const turns = app.get(Outbox).queueOf('turn.run');
    // What is counted is what waits: nobody may work it off meanwhile.
    await turns.pause();
    const chats = await Promise.all(Array.from({ length: FLOOD }, () => app.chat(flooding)));
    for (const chat of chats) expect((await app.send(flooding, chat, 'me first')).status).toBe(202);
    const single = await app.chat(other);
    expect((await app.send(other, single, 'and me?')).status).toBe(202);
    // A message is answered once it is stored; its job follows.
    while ((await turns.count()) <= FLOOD) await new Promise((resolve) => setTimeout(resolve, 10));
    const warned = jest.spyOn(Logger.prototype, 'warn');
    await turns.resume();

    const begun = () =>
      app.db.query(sql<{ chat_id: string }>(`SELECT chat_id FROM turns WHERE started_at IS NOT NULL ORDER BY started_at`));
    while ((await begun()).length <= FLOOD) await new Promise((resolve) => setTimeout(resolve, 100));
    // A job that fails comes again when the flood is over.
    expect(warned.mock.calls).toEqual([]);
    expect((await begun()).findIndex((t) => t.chat_id === single)).toBeLessThan(FLOOD * 0.75);
  });

  it('leaves the messages of a flood in their order', async () => {
    const order = await app.db.query(
      sql<{ n: number }>(
        `SELECT row_number() OVER (ORDER BY t.dispatched_at)::int AS n FROM turns t WHERE t.org_id = $1 ORDER BY t.started_at`,
      ),
      [flooding.id],
    );
    const early = order.slice(0, FLOOD / 2).map((t) => t.n);
    expect(Math.max(...early)).toBeLessThan(FLOOD * 0.8);
  });
});
