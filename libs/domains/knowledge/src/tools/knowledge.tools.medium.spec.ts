import { NO_CALLER } from '@aps/platform/database';
import { capResult, ToolCatalog, ToolSet, type ToolContext, type ToolGrants } from '@aps/tools';
import { KnowledgeToolsModule } from '../knowledge.module';
import { knowledgeService, type TestBase } from '../testing';

const t = knowledgeService([KnowledgeToolsModule]);
let base: TestBase;
let other: TestBase;
let sourceId: string;
beforeAll(async () => {
  base = await t.base();
  other = await t.base(base.org, 'Other');
  sourceId = (await t.text(base, 'Animals', 'A zebra 🦓 has stripes.')).id;
  const { id } = await t.text(other, 'More', 'A zebra, too.');
  await Promise.all([t.settled(base, sourceId), t.settled(other, id)]);
});

/** What a call of an agent with these grants comes to; undefined where it has no such tool. */
async function call(
  name: string,
  args: object,
  allowed_tools: string[],
  knowledge_base_ids: string[] = [],
): Promise<{ failed: boolean; content: string } | undefined> {
  const grants = {
    allowed_tools,
    denied_tools: [],
    knowledge_base_ids,
    enabled_scopes: null,
    mounted_skills: [],
    child_agent_ids: [],
  } as unknown as ToolGrants;
  const tools = new ToolSet(grants, t.get(ToolCatalog).own());
  const tool = tools.find(name);
  if (!tool) return undefined;
  const context = { orgId: base.org.id, tools, signal: new AbortController().signal } as unknown as ToolContext;
  const parsed = tool.parse(args);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const outcome = tool.run
    ? await t.db.transaction(NO_CALLER, (tx) => tool.run!(tx, parsed.value, context))
    : await tool.callOut(parsed.value, context);
  if (outcome.kind !== 'result') throw new Error('It waits');
  return { failed: outcome.isError ?? false, content: outcome.content };
}
const json = async (...args: Parameters<typeof call>) => JSON.parse((await call(...args))!.content) as Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- answers of many shapes
const found = async (...args: Parameters<typeof call>) =>
  (await json(...args)).results.map(({ title }: { title: string }) => title).sort() as string[];

describe('an agent', () => {
  it('searches what it is granted, and nothing else', async () => {
    const query = { query: 'zebra' };
    expect(await call('knowledge_search', query, ['core'])).toBeUndefined();
    expect(await found('knowledge_search', query, [], [base.id])).toEqual(['Animals']);
    expect(await found('knowledge_search', query, ['kb:other'])).toEqual(['More']);
    for (const all of [['*'], ['kb:other', `kb:${base.slug}`]])
      expect(await found('knowledge_search', query, all)).toEqual(['Animals', 'More']);
    expect(await found('knowledge_search', { ...query, kb: 'other' }, ['*'])).toEqual(['More']);
    expect(await call('knowledge_search', { ...query, kb: other.id }, [`kb:${base.slug}`])).toMatchObject({ failed: true });
    const [hit] = (await json('knowledge_search', query, [], [base.id])).results;
    expect(hit).toMatchObject({ source_id: sourceId, title: 'Animals', from: 0, to: 22, content: 'A zebra 🦓 has stripes.' });
  });

  it('reads a source, or a part of it in characters', async () => {
    const whole = await json('knowledge_read', { source_id: sourceId }, [], [base.id]);
    expect(whole).toEqual({ source_id: sourceId, title: 'Animals', from: 0, to: 22, characters: 22, text: 'A zebra 🦓 has stripes.' });
    expect((await json('knowledge_read', { source_id: sourceId, from: 8, to: 13 }, [], [base.id])).text).toBe('🦓 has');
    expect((await json('knowledge_read', { source_id: sourceId, from: 100 }, [], [base.id])).text).toBe('');
    expect(await call('knowledge_read', { source_id: sourceId }, ['kb:other'])).toMatchObject({ failed: true });
  });

  it('is told no more than a model gets, and what is left off', async () => {
    const big = await t.base(base.org, 'Big');
    // Each letter is two of JSON.
    const { id } = await t.text(big, 'Quotes', Array.from({ length: 20 }, (_, n) => `# Okapi ${n}\n\n${'"'.repeat(4_000)}`).join('\n\n'));
    await t.settled(big, id);
    const search = (await call('knowledge_search', { query: 'okapi', limit: 20 }, [], [big.id]))!.content;
    const { results, left_off } = JSON.parse(capResult(search)) as { results: object[]; left_off: number };
    expect([results.length > 2, left_off > 0, results.length + left_off]).toEqual([true, true, 20]);
    let read = '';
    for (let from = 0, characters = 1; from < characters;) {
      const { content } = (await call('knowledge_read', { source_id: id, from }, [], [big.id]))!;
      const part = JSON.parse(capResult(content)) as { text: string; to: number; characters: number };
      read += part.text;
      [from, characters] = [part.to, part.characters];
      expect(from).toBe([...read].length);
    }
    expect(read).toMatch(/^# Okapi 0[^]*# Okapi 19\n\n"{4000}$/);
  });

  it('writes documents where it may, and never over what it has not read', async () => {
    const page = { kb: base.slug, title: 'Notes', content: 'One.' };
    expect(await call('knowledge_write', page, [`kb:${base.slug}`])).toBeUndefined();
    expect(await call('knowledge_write', page, ['kb:other:write', `kb:${base.slug}`])).toMatchObject({ failed: true });
    const grants = [`kb:${base.slug}:write`];
    const { source_id, version } = await json('knowledge_write', page, grants);
    expect(version).toBe('v1');
    expect(await json('knowledge_write', { ...page, source_id, content: 'Two.', base_version: 'v1' }, grants)).toEqual({
      source_id,
      version: 'v2',
    });
    const late = await call('knowledge_write', { ...page, source_id, content: 'Lost.', base_version: 'v1' }, grants);
    expect(late).toEqual({ failed: true, content: expect.stringContaining('v2') });
    expect(await json('knowledge_read', { source_id }, grants)).toMatchObject({ version: 'v2', text: 'Two.' });
    expect(await call('knowledge_write', { ...page, source_id: sourceId }, grants)).toMatchObject({ failed: true });
    expect(await call('knowledge_write', { ...page, content: 'ä'.repeat(1024 * 1024 + 1) }, grants)).toMatchObject({ failed: true });
  });
});
