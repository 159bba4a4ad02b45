import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@aps/platform/database';
import { sql, type Chance } from '@aps/platform/testing';
import { accepted, persist, type Platform } from '../../api-gateway-e2e/support';
import { bookedAnswer, type OtherSide } from './other-side';

const LOOK_MS = 200;

interface Question {
  id: string;
  kind: 'question' | 'approval' | 'form';
  prompt: string;
  memo: string | null;
}

const PENDING = sql<Question>(`
  SELECT h.id, h.kind, h.prompt, s.input->'arguments'->'json'->>'memo' AS memo FROM hitl_requests h JOIN process_steps s ON s.id = h.step_id::uuid
  WHERE h.status = 'pending' AND h.run_id IS NOT NULL`);

/** What people do while all else goes on: they answer what steps ask, and look at the other side where nobody knows what became of a call. */
export class People {
  /** Questions that two have answered at once, and those where both were told that theirs counts. */
  pairs = 0;
  both_taken = 0;
  private readonly seen = new Set<string>();
  private isOver = false;

  constructor(
    private readonly platform: Platform,
    private readonly db: Db,
    private readonly other: OtherSide,
    private readonly chance: Chance,
  ) {}

  /** Until {@link leave}. @throws Error where an answer is refused */
  async answer(): Promise<void> {
    const answering: Promise<void>[] = [];
    let fault: unknown;
    for (; !this.isOver && !fault; await sleep(LOOK_MS)) {
      for (const question of await this.db.query(PENDING).catch(() => [])) {
        if (this.seen.has(question.id)) continue;
        this.seen.add(question.id);
        answering.push(this.see(question).catch((error: unknown) => void (fault ??= error)));
      }
    }
    await Promise.all(answering);
    if (fault) throw fault as Error;
  }

  leave(): void {
    this.isOver = true;
  }

  private async see({ id, kind, prompt, memo }: Question): Promise<void> {
    if (kind === 'approval') return this.send(id, { decision: prompt });
    if (kind === 'form') return this.send(id, { values: { amount: Number(prompt) } });
    // However busy it is: what has reached it when somebody is asked is done.
    await this.other.settled();
    const done = { option_id: 'done', values: { output: bookedAnswer(memo!) } };
    await this.send(id, this.other.has(memo!) ? done : { option_id: 'retry' });
  }

  private async send(id: string, body: unknown): Promise<void> {
    const path = `/api/orgs/${this.platform.demo.org_id}/hitl-requests/${id}/answer`;
    const say = (key: string) => this.platform.call('POST', path, { body, headers: { 'Idempotency-Key': key } });
    if (this.chance.between(1, 3) === 1) {
      const said = await Promise.allSettled([say(randomUUID()), say(randomUUID())]);
      const taken = said.filter((one) => one.status === 'fulfilled' && one.value.status === 200).length;
      this.pairs++;
      if (taken > 1) this.both_taken++;
      if (taken > 0) return;
    }
    const key = randomUUID();
    // Who hears that it was answered has done so before, unheard; or its run is over.
    await persist(async () => {
      const answer = await say(key);
      return answer.body?.code === 'already_resolved' || accepted(answer);
    });
  }
}
