import { systemPrompt } from './system-prompt';

const nothing = { instructions: [], skills: [], agents: [], prompts: [], bases: [], memories: [] };

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

  it('names the prompt templates that it may run, and what they take', () => {
    const prompts = [
      { slug: 'greet', name: 'Greet', description: null, structured: false, variables: [] },
      { slug: 'invoice', name: 'Invoice', description: 'Reads\nbills', structured: true, variables: ['kind', 'who'] },
    ];
    expect(systemPrompt({ ...nothing, prompts })).toBe(
      '## Prompt templates\nYou can run these with `run_prompt_template`.\n- `greet`: Greet\n- `invoice`: Invoice. Reads bills. Variables: kind, who. Reads `input_text`.',
    );
  });

  it('says whose instructions and whose memories are whose, in their order', () => {
    const said = (kind: 'project' | 'team' | 'agent', text: string) => ({ source: { kind }, text });
    const remembered = (owner_kind: 'project' | 'team' | 'agent', content: string) => ({ owner_kind, content });
    const instructions = [said('project', 'Be brief.'), said('team', 'Be kind.'), said('agent', 'Be right.')];
    const memories = [
      remembered('agent', 'one\ntwo'),
      remembered('team', 'three'),
      remembered('project', 'four'),
      remembered('project', 'five'),
    ];
    expect(systemPrompt({ ...nothing, instructions, memories })).toBe(
      '# Project\n\nBe brief.\n\n# Team\n\nBe kind.\n\n# You\n\nBe right.\n\n' +
        '## What you remember\n- one\n  two\n\n## What your team remembers\n- three\n\n## What your project remembers\n- four\n- five',
    );
  });
});
