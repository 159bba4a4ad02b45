import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '@aps/platform/testing';
import type { Answer, Platform } from '../../api-gateway-e2e/support';
import type { OpenInbox, Sending } from './senders';

/** So long somebody goes on with what nobody does. */
const PATIENCE_MS = 300_000;
const AGAIN_MS = 250;
/** Most that passes before somebody terminates a message. */
const LOOK_AWAY_MS = 700;

/** What a message had begun when its end was acknowledged. */
export interface Ended {
  chat: string | null;
  /** Its reply was mailed by then. */
  isReplied: boolean;
}

/** What people do with messages while all else goes on: they release what is held, and terminate what runs. */
export class People {
  released = 0;
  readonly terminated = new Map<string, Ended>();

  private readonly seen = new Set<string>();

  constructor(
    private readonly platform: Platform,
    private readonly inbox: OpenInbox,
    private readonly chance: Chance,
  ) {}

  /** @throws Error where it is refused, or cannot be done for long */
  async see({ key, fate, door }: Sending, id: string): Promise<void> {
    if (this.seen.has(id)) return;
    this.seen.add(id);
    const path = `${this.inbox.path}/messages/${id}`;
    if (fate === 'held') {
      const { body } = await this.until('GET', path, ({ body: message }) => message.state !== 'evaluating');
      if (body.state !== 'held')
        throw new Error(`${key} at ${path} is ${body.state}, and not held: ${JSON.stringify([body.subject, body.decided_by, body.trace])}`);
      // Whoever has not heard that it was done is told by the next try.
      const isDone = ({ status, body }: Answer) => status === 200 || body?.code === 'not_held';
      await this.until('POST', `${path}/release`, isDone);
      this.released++;
    } else if (fate === 'terminated') {
      // While it is evaluated, while the agent answers, or while its reply is not due; some when that is over.
      const moment = this.chance.between(0, 2);
      if (moment === 1) await this.until('GET', path, ({ body }) => body.dispatched !== null);
      if (moment === 2 && door !== 'webhook') await this.until('GET', path, ({ body }) => body.reply.state !== 'none');
      await sleep(this.chance.between(0, LOOK_AWAY_MS));
      const { body } = await this.until('POST', `${path}/terminate`, ({ status }) => status === 200);
      this.terminated.set(id, { chat: (body.dispatched?.chat_id as string | undefined) ?? null, isReplied: body.reply.state === 'sent' });
    }
  }

  private async until(method: 'GET' | 'POST', path: string, isDone: (answer: Answer) => boolean): Promise<Answer> {
    const headers = { 'Idempotency-Key': path };
    for (const end = Date.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
      const answer = await this.platform.call(method, path, method === 'POST' ? { headers } : {}).catch(() => undefined);
      if (answer && (answer.status < 300 || answer.status === 409) && isDone(answer)) return answer;
      if (answer && answer.status >= 400 && answer.status < 500 && ![409, 429].includes(answer.status))
        throw new Error(`${method} ${path} was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (Date.now() > end) throw new Error(`${method} ${path} could not be done: ${answer?.status} ${JSON.stringify(answer?.body)}`);
    }
  }
}
