import { z } from 'zod';
import { defineTool } from './tool';
import { ToolCatalog, ToolSet, type ToolGrants } from './tool-catalog';

const tool = (slug: string, scope: string) =>
  defineTool({
    slug,
    name: slug.replaceAll('.', '_'),
    description: slug,
    scope,
    accessLevel: 'read',
    parameters: z.object({}),
    run: () => Promise.resolve({ kind: 'result', content: '' }),
  });

const SLUGS = ['todo', 'search', 'mail.send', 'notes.find', 'shell', 'ask', 'reply'];
const catalog = new ToolCatalog();
catalog.register(
  tool('todo', 'core'),
  tool('search', 'system:web'),
  tool('mail.send', 'con:mail'),
  tool('notes.find', 'kb:notes'),
  tool('shell', 'system:exec'),
  tool('ask', 'agent:helper'),
  { ...tool('reply', 'core'), availableTo: ({ origin }) => origin.kind === 'inbox' },
);

const grants = (over: Partial<ToolGrants>): ToolGrants => ({
  allowed_tools: [],
  denied_tools: [],
  memory_enabled: false,
  mounted_skills: [],
  child_agent_ids: [],
  knowledge_base_ids: [],
  enabled_scopes: null,
  decision_log: false,
  origin: { kind: 'user', ref_id: null },
  environment: null,
  ...over,
});
/** What is offered; what can be called must be the same. */
const reached = (over: Partial<ToolGrants>): string[] => {
  const set = new ToolSet(grants(over), catalog.own());
  const offered = set.offered().map((t) => t.name);
  const nameOf = (slug: string) => slug.replaceAll('.', '_');
  expect(SLUGS.filter((slug) => set.find(nameOf(slug))).map(nameOf)).toEqual(offered);
  expect(SLUGS.filter((slug) => set.bySlug(slug)).map(nameOf)).toEqual(offered);
  return offered;
};

describe('what an agent reaches', () => {
  it('is told of each tool by the same object in every step and turn', () => {
    const [first, again] = [new ToolSet(grants({}), catalog.own()), new ToolSet(grants({ allowed_tools: ['*'] }), catalog.own())];
    const [todo] = first.offered();
    expect(first.offered()[0]).toBe(todo);
    expect(again.offered()).toContain(todo);
  });

  it.each<[string, Partial<ToolGrants>, string[]]>([
    ['core tools without any grant', {}, ['todo']],
    ['what is for chats that an inbox has begun', { origin: { kind: 'inbox', ref_id: 'm1' } }, ['todo', 'reply']],
    ['a scope', { allowed_tools: ['system:web'] }, ['todo', 'search']],
    ['a single tool', { allowed_tools: ['mail.send'] }, ['todo', 'mail_send']],
    [
      'everything but what is denied',
      { allowed_tools: ['*'], denied_tools: ['con:mail', 'shell', 'core'] },
      ['search', 'notes_find', 'ask'],
    ],
    ['nothing where everything is denied', { allowed_tools: ['*', 'core', 'mail.send'], denied_tools: ['*'] }, []],
    [
      'only the switchable scopes that the chat has on',
      { allowed_tools: ['*'], enabled_scopes: ['con:mail'] },
      ['todo', 'mail_send', 'notes_find', 'shell', 'ask'],
    ],
    [
      'nothing switchable where the chat has all off',
      { allowed_tools: ['system:web', 'mail.send', 'kb:notes'], enabled_scopes: [] },
      ['todo', 'notes_find'],
    ],
    ['no more for being switched on', { enabled_scopes: ['system:web', 'con:mail', 'kb:notes'] }, ['todo']],
    [
      'nothing denied for being switched on',
      { allowed_tools: ['*'], denied_tools: ['system:web'], enabled_scopes: ['system:web'] },
      ['todo', 'notes_find', 'shell', 'ask'],
    ],
  ])('%s', (_, over, names) => expect(reached(over)).toEqual(names));
});
