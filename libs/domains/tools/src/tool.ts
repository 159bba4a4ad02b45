import type { TopicEvent } from '@aps/contracts';
import type { Tx } from '@aps/platform/database';
import type { z } from 'zod';
import type { DecisionMode, ToolHints } from './decision-mode';
import type { ToolGrants } from './tool-catalog';

export type AccessLevel = 'read' | 'write' | 'destructive';

/** Where a call stands: what the tool may know of the turn that makes it. */
export interface ToolContext {
  orgId: string;
  agentId: string;
  chatId: string;
  turnId: string;
  stepNo: number;
  toolCallId: string;
  /** What the agent may use. */
  grants: ToolGrants;
  /** Same for every delivery of this call; tools with outside effects pass it on. */
  idempotencyKey: string;
  /** Aborted when the turn must end here. */
  signal: AbortSignal;
  /** Counts what a model was asked for by the call towards its chat; in the transaction of its receipt. */
  charge(tx: Tx, cost: ToolCost): Promise<void>;
}

/** What a call has cost; null where it has no price. */
export interface ToolCost {
  usd_cost: string | null;
  credits: string;
}

/** The text that the model gets, and what the chat's readers are told besides. */
export interface ToolResult {
  kind: 'result';
  content: string;
  isError?: boolean;
  events?: ToolEvent[];
}

/** What a call came to. */
export type ToolOutcome =
  | ToolResult
  /**
   * The turn waits and holds no slot meanwhile; the call is answered when it resumes: when what `ref` names is over, or at `resumeAt`.
   * Only tools that say so in {@link Tool.waitsFor} may return it.
   */
  | { kind: 'wait'; ref?: string; resumeAt?: Date; events?: ToolEvent[] };

/** An event of the chat, before it has a number. */
export type ToolEvent = Pick<TopicEvent, 'type' | 'data'>;

/** What a call can make its turn wait for. */
export type WaitKind = 'timer' | 'human' | 'children';

/** Something that an agent can call. */
export type Tool<Schema extends z.ZodType = z.ZodType> = ToolDescription<Schema> & (ToolInside<Schema> | ToolOutside<Schema>);

/** Its effects are in our database. */
interface ToolInside<Schema extends z.ZodType> {
  /**
   * Runs the call. Effects go through `tx`, which also records the result: either both happen or neither, so a call that was cut off
   * simply runs again.
   */
  run: (tx: Tx, args: z.infer<Schema>, context: ToolContext) => Promise<ToolOutcome>;
  callOut?: never;
}

/** It asks a model, or a server elsewhere. */
interface ToolOutside<Schema extends z.ZodType> {
  /**
   * Makes the call, with no transaction open. Its result is recorded afterwards: a call that was cut off in between is made again, with
   * the same idempotency key. Throws the reason of the context's signal where that has cut it.
   */
  callOut: (args: z.infer<Schema>, context: ToolContext) => Promise<ToolResult>;
  run?: never;
}

interface ToolDescription<Schema extends z.ZodType> {
  /** Stable, e.g. `todo_write` or `con_github.create_issue`. */
  slug: string;
  /** What the model calls it: at most 64 characters of `[a-zA-Z0-9_-]`. */
  name: string;
  description: string;
  /** Scope of the grant that reaches it, e.g. `core`. */
  scope: string;
  accessLevel: AccessLevel;
  /** What its server declares of it. */
  hints?: ToolHints;
  /** Of the connection behind it; calls that the mode covers need a recorded decision. Absent: off. */
  decisionMode?: DecisionMode;
  isTerminal?: boolean;
  /** A call may make its turn wait for this. */
  waitsFor?: WaitKind;
  /** Which calls may; absent: every one. Those that may are made after all that do not. */
  waitsWhen?: (args: z.infer<Schema>) => boolean;
  parameters: Schema;
  /** Offered only where this holds for the agent, e.g. a memory tool where memory is on. */
  availableTo?: (agent: {
    memory_enabled: boolean;
    allowed_tools: readonly string[];
    mounted_skills: readonly string[];
    child_agent_ids: readonly string[];
    decision_log: boolean;
  }) => boolean;
}

/** Keeps the type of a tool's arguments while its schema is written down once. */
export function defineTool<Schema extends z.ZodType>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool;
}
