import { entitle } from '@aps/billing/testing';
import { ModelCalls } from '@aps/inference/testing';
import { FilesHttpModule } from '@aps/files/http';
import { fileForm, sql } from '@aps/platform/testing';
import { aProject } from '@aps/agents/testing';
import { calls, chatsService, type TestOrg } from '../testing/chats';
import { addAgent, delegate, delegating, type TestPlace } from '../testing/delegations';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 1)]);

describe('what an agent’s team and project share', () => {
  const app = chatsService(undefined, [FilesHttpModule]);
  let org: TestOrg;
  let place: TestPlace, scout: TestPlace, clerk: TestPlace;
  let team: string;
  beforeAll(async () => {
    await entitle(app, { shared_blocks: true, max_agents: -1 });
    org = await app.org();
    scout = await addAgent(app, org, { name: 'Scout' });
    clerk = await addAgent(app, org, { name: 'Clerk' });
    const { id } = await make('/agent-teams', { name: 'Team' });
    team = id as string;
    await app.db.execute(sql('UPDATE agent_teams SET project_id = $2 WHERE id = $1'), [
      team,
      await aProject(app, org.id, { shared_instruction: 'Be brief.' }),
    ]);
    place = await addAgent(app, org, { name: 'Boss', instruction: 'Be right.', team_id: team, denied_tools: ['agent:clerk'] });
  });
  afterEach(() => jest.restoreAllMocks());

  const root = () => `/api/orgs/${org.id}`;
  const make = (path: string, body: unknown) => app.make('POST', root() + path, { as: org.owner, body });
  const share = (body: unknown) => app.make('PATCH', `${root()}/agent-teams/${team}`, { as: org.owner, body });
  const context = async () =>
    (await app.make('GET', `${root()}/agents/${place.agentId}/effective-context`, { as: org.owner })) as { sha256: string };
  /** Sends a message, and answers what the model was told and offered first, and the chat when it is at rest. */
  const said = async (chat: string, message: string, replies: number) => {
    const asked = jest.spyOn(app.get(ModelCalls), 'streamChat');
    await app.send(place, chat, message);
    const settled = await app.settled(place, chat, replies);
    const { system, tools } = asked.mock.calls.map(([, call]) => call).find(({ feature }) => feature === 'turn')!;
    asked.mockRestore();
    return { system, tools: tools!.map(({ name }) => name), messages: settled.messages as { role: string; content: string }[] };
  };
  /** The hashes that the steps of a chat have, newest first. */
  const hashes = async (chat: string) => {
    const { items } = await app.make('GET', `${place.path}/${chat}/timeline`, { as: org.owner });
    const steps = (items as { type: string; metadata: Record<string, unknown> }[]).filter(({ type }) => type === 'agent_step');
    return steps.filter(({ metadata }) => metadata.kind === 'llm').map(({ metadata }) => metadata.context_sha256);
  };

  it('is told and may be used from the next turn on, in chats that have begun, too; and each step says what it was told', async () => {
    const chat = await app.chat(place);
    const first = await said(chat, 'hello', 1);
    expect(first.system).toBe('# Project\n\nBe brief.\n\n# You\n\nBe right.');
    expect(first.tools).not.toContain('delegate_to_agent');
    const before = await context();

    const skill = await make('/skills', { name: 'Rare', description: 'What is rare.', content: 'Only gold is rare.' });
    await share({ shared_instruction: 'Be kind.', shared_mounted_skills: [skill.slug], shared_allowed_tools: ['agent:scout'] });
    await make(`/agent-teams/${team}/memories`, { content: 'Ann is our customer.' });
    const after = await context();
    const second = await said(chat, calls('skill_read', { slug: skill.slug }), 2);
    expect(second.system).toBe(
      '# Project\n\nBe brief.\n\n# Team\n\nBe kind.\n\n# You\n\nBe right.\n\n' +
        '## Skills\nRead a skill with `skill_read` before you do what it is about.\n- `rare`: Rare. What is rare.\n\n' +
        '## Agents\nYou can delegate to these with `delegate_to_agent`.\n- `scout`: Scout\n\n## What your team remembers\n- Ann is our customer.',
    );
    expect(second.tools).toEqual(expect.arrayContaining(['delegate_to_agent', 'skill_read']));
    expect(second.messages.find(({ role }) => role === 'tool')!.content).toContain('Only gold is rare.');
    expect(after.sha256).not.toBe(before.sha256);
    expect(await hashes(chat)).toEqual([after.sha256, after.sha256, before.sha256]);
  });

  it('lets it delegate, unless the agent denies that', async () => {
    await share({ shared_allowed_tools: ['agent:scout', 'agent:clerk'] });
    const chat = await app.chat(place);
    const { messages } = await said(chat, delegating([delegate(scout, 'look'), delegate(clerk, 'look')]), 1);
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results.sort()).toEqual([expect.stringContaining('There is no agent clerk'), expect.stringContaining('You said: look')]);
    await share({ shared_allowed_tools: [] });
    expect((await said(chat, 'and now?', 2)).tools).not.toContain('delegate_to_agent');
  });

  it('is read to its end, and so are the files of a skill that are text', async () => {
    const upload = async (content: Parameters<typeof fileForm>[0], name: string) =>
      (await app.make('POST', `${root()}/uploads`, { as: org.owner, body: fileForm(content, name) })).file_id as string;
    const lines = Array.from({ length: 7_500 }, (_, i) => `step 😀 ${i}`);
    const [steps, picture] = [await upload(lines.join('\n'), 'a.txt'), await upload(PNG, 'b.png')];
    const { slug } = await make('/skills', {
      ...{ name: 'Long', description: 'What is long.', content: lines.join('\n') },
      files: [{ file_id: steps, filename: 'steps.txt' }, { file_id: picture }],
    });
    await share({ shared_mounted_skills: [slug] });
    const chat = await app.chat(place);
    let replies = 0;
    const read = async (args: Record<string, unknown>) => {
      const { messages } = await said(chat, calls('skill_read', { slug, ...args }), ++replies);
      return messages.filter(({ role }) => role === 'tool').at(-1)!.content;
    };
    for (const which of [{}, { file: 'steps.txt' }]) {
      const parts: string[] = [];
      for (let from = 0, characters = 1; from < characters;) {
        const part = JSON.parse(await read({ ...which, from })) as {
          from: number;
          to: number;
          characters: number;
          text: string;
          files: string[];
        };
        expect([part.from, part.files]).toEqual([from, ['steps.txt', 'b.png']]);
        parts.push(part.text);
        ({ to: from, characters } = part);
      }
      expect(parts.join('') === lines.join('\n')).toBe(true);
      expect(parts.length).toBeLessThan(8);
    }
    expect(JSON.parse(await read({ from: 7, to: 9 }))).toMatchObject({ from: 7, to: 9, text: '0\n' });
    expect(await read({ file: 'b.png' })).toBe('The file b.png cannot be read: it has no text that can be read here.');
    expect(await read({ file: 'a.txt' })).toBe(`The skill ${slug} has no file a.txt; it has ["steps.txt","b.png"].`);
  });
});
