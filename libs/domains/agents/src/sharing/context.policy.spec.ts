import type { SealedAgentConfig } from '../sealed-config';
import { effectiveContext, toldMemories, withShares } from './context.policy';

const sealed = (fields: Partial<SealedAgentConfig>) =>
  ({ agent_id: 'a', instruction: '', allowed_tools: [], denied_tools: [], mounted_skills: [], ...fields }) as unknown as SealedAgentConfig;
const share = (kind: 'project' | 'team', tools: string[], skills: string[] = []) => ({
  ...{ kind, id: kind, shared_instruction: null, shared_allowed_tools: tools, shared_mounted_skills: skills },
});

describe('what is shared with an agent', () => {
  it('adds to what is its own, each once, and takes nothing away', () => {
    const own = sealed({ allowed_tools: ['a', 'b'], mounted_skills: ['mine', 'ours'] });
    const context = withShares(own, [share('project', ['c', 'a'], ['all']), share('team', ['d'], ['ours', 'all'])]);
    expect(context.allowed_tools).toEqual(['a', 'b', 'c', 'd']);
    expect(context.mounted_skills).toEqual(['all', 'ours', 'mine']);
    expect(context.sealed).toBe(own);
  });

  it('is denied by scope, by everything, and an exact tool with its connection', () => {
    const denied = (tool: string, ...denied_tools: string[]) =>
      effectiveContext({ sealed: sealed({ denied_tools }), shares: [share('team', [tool])] }, { skills: [], memories: [] }).tools.find(
        ({ scope }) => scope === tool,
      )!.denied;
    expect(denied('books.search', 'con:books')).toBe(true);
    expect(denied('books.search', 'books.search')).toBe(true);
    expect(denied('books.search', '*')).toBe(true);
    expect(denied('books.search', 'con:other', 'books.find')).toBe(false);
    expect(denied('con:books', 'books.search')).toBe(false);
  });

  it('is remembered up to 8,000 tokens, whole memories from the first on', () => {
    const memory = (characters: number) => ({ content: 'x'.repeat(characters) });
    expect(toldMemories([memory(32_000), memory(1)])).toHaveLength(1);
    expect(toldMemories([memory(31_996), memory(5), memory(1)])).toHaveLength(1);
    expect(toldMemories([memory(31_996), memory(4)])).toHaveLength(2);
    expect(toldMemories([])).toEqual([]);
    // Some 1,400 tokens of o200k_base.
    const japanese = { content: '返金は三十日以内に受け付ける。'.repeat(100) };
    expect(toldMemories(Array<typeof japanese>(10).fill(japanese))).toHaveLength(7);
  });
});
