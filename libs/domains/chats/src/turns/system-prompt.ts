import type { SealedAgentConfig } from '@aps/agents';
import type { RunnablePrompt } from '@aps/prompts';

export interface PromptParts {
  agent: Pick<SealedAgentConfig, 'name' | 'instruction'>;
  skills: { slug: string; name: string; description: string }[];
  /** Those that it may delegate to. */
  agents: { slug: string; name: string; description: string | null }[];
  /** Those that it may run. */
  prompts: RunnablePrompt[];
  memories: { content: string }[];
}

/** Memories beyond this are left out, newest first kept; characters, about 8,000 tokens. */
const MEMORY_CHARS = 32_000;

const line = ({ slug, name, description }: { slug: string; name: string; description: string | null }): string =>
  `- \`${slug}\`: ${name}${description ? `. ${description.replaceAll('\n', ' ')}` : ''}`;

/**
 * What the model is told before the conversation. Stable parts come first, so that providers can reuse what they have already read.
 */
export function systemPrompt({ agent, skills, agents, prompts, memories }: PromptParts): string | undefined {
  const parts: string[] = [];
  if (agent.instruction.trim()) parts.push(agent.instruction.trim());
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
  const kept: string[] = [];
  let left = MEMORY_CHARS;
  for (const { content } of memories) {
    left -= content.length;
    if (left < 0) break;
    kept.push(`- ${content.replaceAll('\n', '\n  ')}`);
  }
  if (kept.length) parts.push(['## What you remember', ...kept].join('\n'));
  return parts.length ? parts.join('\n\n') : undefined;
}
