import type { Tx } from '@aps/platform/database';
import type { z } from 'zod';

export type AccessLevel = 'read' | 'write' | 'destructive';

/** Where a call stands: what the tool may know of the turn that makes it. */
export interface ToolContext {
  orgId: string;
  agentId: string;
  chatId: string;
  turnId: string;
  stepNo: number;
  toolCallId: string;
  /** Skills that the agent has mounted. */
  mountedSkills: readonly string[];
  /** Same for every delivery of this call; tools with outside effects pass it on. */
  idempotencyKey: string;
  signal: AbortSignal;
}

/** What a call came to. */
export type ToolOutcome =
  /** The text that the model gets. */
  | { kind: 'result'; content: string; isError?: boolean }
  /** The turn waits and holds no slot until then; the call is answered when it resumes. */
  | { kind: 'wait_until'; resumeAt: Date };

/** Something that an agent can call. */
export interface Tool<Schema extends z.ZodType = z.ZodType> {
  /** Stable, e.g. `todo_write` or `con_github.create_issue`. */
  slug: string;
  /** What the model calls it: at most 64 characters of `[a-zA-Z0-9_-]`. */
  name: string;
  description: string;
  /** Scope of the grant that reaches it, e.g. `core`. */
  scope: string;
  accessLevel: AccessLevel;
  isTerminal?: boolean;
  isPausable?: boolean;
  parameters: Schema;
  /** Offered only where this holds for the agent, e.g. a memory tool where memory is on. */
  availableTo?: (agent: { memory_enabled: boolean; mounted_skills: readonly string[] }) => boolean;
  /**
   * Runs the call. Effects go through `tx`, which also records the result: either both happen or neither, so a call that was cut off
   * simply runs again.
   */
  run: (tx: Tx, args: z.infer<Schema>, context: ToolContext) => Promise<ToolOutcome>;
}

/** Keeps the type of a tool's arguments while its schema is written down once. */
export function defineTool<Schema extends z.ZodType>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
