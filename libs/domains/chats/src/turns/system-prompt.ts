import type { MemoryOwner } from '@aps/agents';
import type { NamedBase } from '@aps/knowledge';
import type { RunnablePrompt } from '@aps/prompts';

export interface PromptParts {
  /** In the order in which they are said; none is empty. */
  instructions: { source: { kind: keyof typeof HEADINGS }; text: string }[];
  skills: { slug: string; name: string; description: string }[];
  /** Those that it may delegate to. */
  agents: { slug: string; name: string; description: string | null }[];
  /** Those that it may run. */
  prompts: RunnablePrompt[];
  /** Those that it may read. */
  bases: Pick<NamedBase, 'slug' | 'name' | 'description'>[];
  memories: { content: string; owner_kind: MemoryOwner['kind'] }[];
}

const HEADINGS = { platform: 'Platform', project: 'Project', team: 'Team', agent: 'You' };
const REMEMBERED = { agent: 'What you remember', team: 'What your team remembers', project: 'What your project remembers' };

const line = ({ slug, name, description }: { slug: string; name: string; description: string | null }): string =>
  `- \`${slug}\`: ${name}${description ? `. ${description.replaceAll('\n', ' ')}` : ''}`;

/**
 * What the model is told before the conversation. Stable parts come first, so that providers can reuse what they have already read.
 */
export function systemPrompt({ instructions, skills, agents, prompts, bases, memories }: PromptParts): string | undefined {
  const parts = instructions.map(({ source, text }) => `# ${HEADINGS[source.kind]}\n\n${text}`);
  if (skills.length) {
    parts.push(
      [
        '## Skills',
        'Read a skill with `skill_read` before you do what it is about.',
        ...skills.map((s) => `- \`${s.slug}\`: ${s.name}. ${s.description}`),
      ].join('\n'),
    );
  }
  if (agents.length) {
    parts.push(['## Agents', 'You can delegate to these with `delegate_to_agent`.', ...agents.map(line)].join('\n'));
  }
  if (prompts.length) {
    const takes = ({ structured, variables }: RunnablePrompt) =>
      [...(variables.length ? [`Variables: ${variables.join(', ')}.`] : []), ...(structured ? ['Reads `input_text`.'] : [])].join(' ');
    const lines = prompts.map((prompt) => [line(prompt), takes(prompt)].filter(Boolean).join('. '));
    parts.push(['## Prompt templates', 'You can run these with `run_prompt_template`.', ...lines].join('\n'));
  }
  if (bases.length) {
    parts.push(['## Knowledge bases', 'You can search these with `knowledge_search`.', ...bases.map(line)].join('\n'));
  }
  for (const kind of ['agent', 'team', 'project'] as const) {
    const lines = memories.filter(({ owner_kind }) => owner_kind === kind).map(({ content }) => `- ${content.replaceAll('\n', '\n  ')}`);
    if (lines.length) parts.push([`## ${REMEMBERED[kind]}`, ...lines].join('\n'));
  }
  return parts.length ? parts.join('\n\n') : undefined;
}
