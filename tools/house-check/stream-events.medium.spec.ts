import { entitle, withCredits } from '@aps/billing/testing';
import { sql } from '@aps/platform/testing';
import { LeaseEnded } from '@aps/platform/runs';
import { TurnKind } from '../../libs/domains/chats/src/turns/turn.kind';
import { script, SLOW, type Frame, type TestOrg } from '@aps/chats/testing';
import { EnvironmentsHttpModule } from '@aps/environments/http';
import { inboxesService } from '@aps/inboxes/testing';
import { KnowledgeHttpModule } from '@aps/knowledge/http';
import { ProcessesHttpModule } from '@aps/processes/http';
import { aProcess, aRevision, aRun, tell } from '@aps/processes/testing';
import { addAgent } from '../../libs/domains/chats/src/testing/delegations';
import { EventStreamsClient } from '../../libs/domains/chats/src/testing/event-streams';
import { describe as inWords, follow } from '../../openapi/examples/follow-chat';
import { DocumentValidator } from './testing/validator';

const validator = DocumentValidator.committed();
const namesOf = (union: 'ChatStreamEvent' | 'TopicStreamEvent'): string[] =>
  Object.keys(validator.document.components.schemas[union].discriminator?.mapping ?? {}).sort();
const call = (name: string, args: Record<string, unknown>) => ({ tool_calls: [{ name, arguments: args }] });

describe('the documented events', () => {
  const app = inboxesService({}, [ProcessesHttpModule, KnowledgeHttpModule, EnvironmentsHttpModule]);
  let streams: EventStreamsClient;
  let org: TestOrg;
  /** Every frame of every stream that was read, by kind of stream. */
  const chatFrames: Frame[] = [];
  const topicFrames: Frame[] = [];

  beforeAll(async () => {
    streams = new EventStreamsClient(app);
    // Small, so that a chat is soon summed up.
    await app.db.execute(sql(`UPDATE model_catalog SET context_window = 4000 WHERE key = 'mock'`));
    const place = await app.org();
    const leaf = await addAgent(app, place, { name: 'Leaf' });
    org = await addAgent(app, place, { name: 'Worker', child_agent_ids: [leaf.agentId], memory_enabled: true });
    await entitle(app, { decision_log: true });
    await app.addUnpricedModel('unpriced');
  });
  afterEach(() => jest.restoreAllMocks());

  /** What happens in a chat, told on its own stream and on one of several topics, until both have told the last of it. */
  async function told(chat: string, happen: () => Promise<unknown>, last: (frame: Frame) => boolean, place = org): Promise<Frame[]> {
    const [one, several] = [await app.stream(place, chat), await streams.events(place, { topics: `chat:${chat},org` })];
    await happen();
    const [frames, others] = [await one.until(last), await several.until(last)];
    chatFrames.push(...frames);
    topicFrames.push(...others);
    one.close();
    several.close();
    return frames;
  }
  const turnOver = ({ event, data }: Frame) =>
    event === 'status_changed' && data.data.from === 'RUNNING' && data.data.to !== 'PAUSED' && data.data.pause === null;
  const types = (frames: Frame[]) => frames.map((frame) => frame.event);

  it('come when an agent works: calls, lists, memories, decisions', async () => {
    const chat = await app.chat(org);
    const work = script(
      call('record_decision', { kind: 'act', summary: 'Plan it', basis: 'Rule 1' }),
      call('todo_write', { todos: [{ title: 'first', status: 'in_progress' }] }),
      call('memory_write', { content: 'Likes trains.' }),
      { text: 'done' },
    );
    const frames = await told(chat, () => app.send(org, chat, work), turnOver);
    expect(types(frames)).toEqual(
      expect.arrayContaining([
        'snapshot',
        'message_created',
        'message_delta',
        'message_completed',
        'tool_call',
        'tool_result',
        'decision_recorded',
        'todo_updated',
        'memory_written',
      ]),
    );
  });

  it('when it asks a human, and when one answers', async () => {
    const chat = await app.chat(org);
    const answer = async () => {
      await app.send(
        org,
        chat,
        script(call('ask_human', { kind: 'question', prompt: 'Which?', options: [{ id: 'a', label: 'A' }] }), { text: 'done' }),
      );
      const { pause } = await app.until(org, chat, (c) => c.pause?.kind === 'human');
      const answered = await app.call('POST', `/api/orgs/${org.id}/hitl-requests/${pause.request_id}/answer`, {
        as: org.owner,
        body: { option_id: 'a' },
      });
      expect(answered.status).toBe(200);
    };
    const frames = await told(chat, answer, turnOver);
    expect(types(frames)).toEqual(expect.arrayContaining(['hitl_requested', 'hitl_resolved']));
  });

  it('when it delegates, and does not wait: the result is a message of the system', async () => {
    const chat = await app.chat(org);
    const frames = await told(
      chat,
      () => app.send(org, chat, script(call('delegate_to_agent', { agent: 'leaf', task: 'look', wait: false }), { text: 'done' })),
      ({ event, data }) => event === 'message_created' && data.data.message.role === 'system',
    );
    expect(types(frames)).toEqual(expect.arrayContaining(['delegation_started', 'delegation_finished']));
  });

  it('when it fails, is blocked, is stopped, begins anew, or is summed up', async () => {
    const failing = await app.chat(org);
    await told(
      failing,
      () => app.send(org, failing, script({ error: { status: 400 } })),
      ({ event, data }) => event === 'status_changed' && data.data.to === 'ERRORED',
    );

    const blocked = await app.chat(org);
    await entitle(app, { enforces_credits: true, direct_model_choice: true });
    await told(
      blocked,
      () => app.call('POST', `${org.path}/${blocked}/messages`, { as: org.owner, body: { content: 'hello', model: 'unpriced' } }),
      ({ event, data }) => event === 'status_changed' && data.data.to === 'ARCHIVED',
    );
    await entitle(app, { enforces_credits: false });

    const stopped = await app.chat(org);
    const stop = async () => {
      await app.send(org, stopped, SLOW);
      await app.until(org, stopped, (c) => c.status === 'RUNNING');
      await app.call('POST', `${org.path}/${stopped}/stop`, { as: org.owner, body: { reason: 'enough' } });
    };
    await told(stopped, stop, ({ event, data }) => event === 'status_changed' && data.data.stop_reason === 'stopped');

    const lost = await app.chat(org);
    const die = async () => {
      const died = new Promise<void>((resolve) => {
        jest.spyOn(app.get(TurnKind) as unknown as { drive: () => Promise<string> }, 'drive').mockImplementationOnce(async () => {
          resolve();
          throw new LeaseEnded('lost');
        });
      });
      await app.send(org, lost, 'hello');
      await died;
      await app.db.execute(
        sql(`UPDATE turns SET lease_expires_at = now() - interval '2 seconds' WHERE chat_id = $1 AND status = 'running'`),
        [lost],
      );
    };
    expect(types(await told(lost, die, turnOver))).toContain('message_restarted');

    const long = await app.chat(org);
    const talk = async () => {
      for (let i = 1; i <= 4; i++) {
        await app.send(org, long, `${i}: ${'word '.repeat(480)}`);
        await app.settled(org, long, i);
      }
      await app.send(org, long, '5: the end');
    };
    await told(long, talk, ({ event, data }) => event === 'message_created' && data.data.message.content.startsWith('5:'));
  });

  it('when people come and go, rename it, or lose it', async () => {
    const chat = await app.chat(org);
    const act = async () => {
      await app.call('POST', `${org.path}/${chat}/presence`, { as: org.owner });
      await app.call('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { title: 'A name' } });
    };
    await told(chat, act, ({ event }) => event === 'title_changed');

    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    const several = await streams.events(org, { topics: `chat:${chat},org` }, { as: org.member });
    await several.until(({ event, data }) => event === 'snapshot' && data.topic === 'org');
    await app.db.execute(sql('UPDATE chats SET shared = false WHERE id = $1'), [chat]);
    topicFrames.push(...(await several.until(({ event }) => event === 'topic_closed')));
  });

  it('when an inbox has a message', async () => {
    const inbox = await app.inbox(org);
    const stream = await streams.events(org, { topics: `inbox:${inbox.id}` });
    await stream.until(({ event }) => event === 'snapshot');
    await app.mail(inbox);
    topicFrames.push(...(await stream.until(({ event, data }) => event === 'inbox_message_updated' && data.data.state === 'accepted')));
    stream.close();
  });

  it('when a run of a process goes on', async () => {
    const place = { id: org.id, owner: org.owner, path: `/api/orgs/${org.id}` };
    const process = (await aProcess(app, place)).id as string;
    const run = await aRun(app, place, await aRevision(app, place, process));
    const stream = await streams.events(org, { topics: `run:${run}` });
    await stream.until(({ event }) => event === 'snapshot');
    const step = { event: 'step_started', step_id: 'say', path: 'say', kind: 'transform' };
    await tell(app, place, run, { type: 'run_updated', data: { event: 'run_started' } }, { type: 'step_updated', data: step });
    topicFrames.push(...(await stream.until(({ event }) => event === 'step_updated')));
    stream.close();
  });

  it('when a source of a knowledge base is something else', async () => {
    const knowledge = `/api/orgs/${org.id}/knowledge`;
    const { id } = await app.make('POST', knowledge, { as: org.owner, body: { name: 'Handbook' } });
    const stream = await streams.events(org, { topics: 'org' });
    await stream.until(({ event }) => event === 'snapshot');
    await app.make('POST', `${knowledge}/${id}/documents`, { as: org.owner, body: {} });
    topicFrames.push(...(await stream.until(({ event }) => event === 'source_updated')));
    stream.close();
  });

  it('when an environment stands otherwise', async () => {
    const environments = `/api/orgs/${org.id}/environments`;
    const made = await app.make('POST', environments, { as: org.owner, body: { kind: 'CUSTOM_IMAGE', image_ref: 'debian' } });
    const { id } = made.environment;
    const stream = await streams.events(org, { topics: `env:${id},org` });
    await stream.until(({ event }) => event === 'snapshot');
    await app.make('PATCH', `${environments}/${id}`, { as: org.owner, body: { image_ref: 'debian:12' } });
    topicFrames.push(...(await stream.until(({ event }) => event === 'environment_updated')));
    stream.close();
  });

  it('when credits move, and the subscription changes', async () => {
    const { id, owner } = await app.org();
    const stream = await streams.events({ ...org, id, owner }, { topics: 'org' });
    await stream.until(({ event }) => event === 'snapshot');
    await withCredits(app, id, { granted: '1' });
    const seen = new Set<string>();
    topicFrames.push(...(await stream.until(({ event }) => event.endsWith('_updated') && seen.add(event).size === 2)));
    stream.close();
  });

  it('when nothing happens, and when the organization is suspended', async () => {
    const chat = await app.chat(org);
    await told(
      chat,
      () => Promise.resolve(),
      ({ event }) => event === 'ping',
    );
    const other = await app.org();
    const suspend = () => app.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [other.id]);
    await told(await app.chat(other), suspend, ({ event }) => event === 'org_suspended', other);
  });

  it('are all of them, each as its schema says', () => {
    for (const [frames, union] of [
      [chatFrames, 'ChatStreamEvent'],
      [topicFrames, 'TopicStreamEvent'],
    ] as const) {
      expect([...new Set(frames.map(({ data }) => data.type as string))].sort()).toEqual(namesOf(union));
      const faults = frames.flatMap((frame) =>
        [...(frame.event === frame.data.type ? [] : ['another name']), ...validator.eventFaults(frame.data as { type: string }, union)].map(
          (fault) => `${frame.event}: ${fault}`,
        ),
      );
      expect([...new Set(faults)]).toEqual([]);
    }
  });

  it('have messages as the chat shows them', async () => {
    const shown = new Map<string, unknown>();
    for (const { data } of chatFrames.filter(({ event }) => event === 'snapshot')) {
      const { status, body } = await app.read(org, data.data.chat.id as string);
      for (const message of status === 200 ? body.messages : []) shown.set(message.id, message);
    }
    const messages = chatFrames
      .filter(({ event }) => event === 'message_created' || event === 'message_completed')
      .map(({ data }) => data.data.message);
    expect(messages.length).toBeGreaterThan(15);
    expect(messages).toEqual(messages.map(({ id }) => shown.get(id as string)));
  });

  it('are typed for the example of a client, which follows a chat', async () => {
    const chat = await app.chat(org);
    const lines: (string | null)[] = [];
    for await (const event of follow(app.url, org.owner.token, { org_id: org.id, agent_id: org.agentId, chat_id: chat })) {
      lines.push(inWords(event));
      if (event.type === 'snapshot') await app.send(org, chat, 'hello');
      if (event.type === 'message_completed' && event.data.final) break;
    }
    expect(lines[0]).toBe('chat Test is ACTIVE');
    expect(lines.filter((line) => /^(user|assistant): /.test(line ?? ''))).toEqual([
      'user: hello',
      expect.stringMatching(/^assistant: You said: hello for \$0\.0/),
    ]);
  });
});
