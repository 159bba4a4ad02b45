import { systemPrompt } from './system-prompt';

const nothing = { agent: { name: 'A', instruction: '' }, skills: [], agents: [], memories: [] };

describe('what a model is told before the conversation', () => {
  it('is nothing where there is nothing to tell', () => {
    expect(systemPrompt(nothing)).toBeUndefined();
  });

  it('names the agents that it may delegate to, each on one line', () => {
    const agents = [
      { slug: 'scout', name: 'Scout', description: 'Looks\n## around' },
      { slug: 'clerk', name: 'Clerk', description: null },
    ];
    expect(systemPrompt({ ...nothing, agents })).toBe(
      '## Agents\nYou can delegate to these with `delegate_to_agent`.\n- `scout`: Scout. Looks ## around\n- `clerk`: Clerk',
    );
  });
});
