import type { PinnedTool } from '@aps/entities';
import { hashOf } from '@aps/platform/definitions';
import { referencesIn, type Definition, type DefinitionProblem } from '../definition';
import type { StepTool, StepTools } from '../tools/step-tools';

/** The tools that a definition calls, by slug; null stands for one that there is not. */
export type CalledTools = ReadonlyMap<string, StepTool | null>;

export async function calledTools(tools: StepTools, orgId: string, definition: Definition): Promise<CalledTools> {
  const slugs = [...new Set(referencesIn(definition).tools.map(({ tool }) => tool))].sort();
  return new Map(await Promise.all(slugs.map(async (slug) => [slug, await tools.find(orgId, slug)] as const)));
}

/** @param valid_values the tools that there are */
export const toolProblems = (definition: Definition, called: CalledTools, valid_values: string[]): DefinitionProblem[] =>
  referencesIn(definition).tools.flatMap(({ step_id, tool }) =>
    called.get(tool) ? [] : [{ step_id, field: 'tool', problem: 'There is no such tool.', valid_values }],
  );

/** The tools as they are now, in the order of their slugs. */
export const snapshotOf = (called: CalledTools, at: Date): PinnedTool[] =>
  [...called.values()].flatMap((tool) =>
    tool
      ? [
          {
            tool_slug: tool.slug,
            connection_id: tool.connectionId,
            input_schema: tool.inputSchema,
            access_level: tool.accessLevel,
            schema_sha256: hashOf(tool.inputSchema),
            listed_at: at.toISOString(),
          },
        ]
      : [],
  );

/** What is not as it was pinned; null where all is. */
export function changedTool(pinned: readonly PinnedTool[], called: CalledTools): string | null {
  const missing = pinned.find(({ tool_slug }) => !called.get(tool_slug));
  if (missing) return `tool_missing:${missing.tool_slug}`;
  const changed = pinned.find(({ tool_slug, schema_sha256 }) => hashOf(called.get(tool_slug)!.inputSchema) !== schema_sha256);
  if (changed) return `tool_schema_changed:${changed.tool_slug}`;
  const moved = pinned.find(({ tool_slug, connection_id }) => connection_id && called.get(tool_slug)!.connectionId !== connection_id);
  return moved ? `connection_gone:${moved.connection_id}` : null;
}
