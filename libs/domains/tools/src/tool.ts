import type { TopicEvent } from '@aps/contracts';
import type { Chat } from '@aps/entities';
import type { Db, Tx } from '@aps/platform/database';
import type { Effect } from '@aps/platform/runs';
import { z } from 'zod';
import type { DecisionMode, ToolHints } from './decision-mode';
import type { ToolSet, Workplace } from './tool-catalog';

export type AccessLevel = 'read' | 'write' | 'destructive';

/** What began a chat, and which one of these it was. */
export interface ChatOrigin {
  kind: Chat['origin_kind'];
  ref_id: string | null;
}

/** Where a call stands: what the tool may know of the turn that makes it. */
export interface ToolContext {
  orgId: string;
  agentId: string;
  chatId: string;
  origin: ChatOrigin;
  turnId: string;
  stepNo: number;
  toolCallId: string;
  /** What the turn may use. */
  tools: ToolSet;
  /** On whose behalf the turn acts; null where on nobody's. */
  principalId: string | null;
  /** `<turn>/<step>/<call>`, the same for every delivery of this call; tools with outside effects pass it on. */
  idempotencyKey: string;
  /** Aborted when the turn must end here, or the call has taken too long. */
  signal: AbortSignal;
  /** The other side has shown that it is at work: gives a call that goes out more time, within {@link CallLimits.totalMs}. */
  progressed: () => void;
  /** Of who has begun the chat; asked before each model call, with the credits that no receipt tells of yet. Throws where nothing is left. */
  budget?: (used: string) => Promise<void>;
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

/** Answers a call with what has become of it. */
export const toolResult = (value: object, events?: ToolEvent[]): ToolResult => ({
  kind: 'result',
  content: JSON.stringify(value),
  ...(events && { events }),
});

/** Answers a call with what was wrong with it, in words that the model can go by. */
export const toolError = (content: string): ToolResult => ({ kind: 'result', content, isError: true });

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

/** Something that an agent can call. `Args` is what its {@link ToolArguments.parse} gives. */
export type Tool<Args = unknown> = ToolDescription<Args> & ToolArguments & (ToolInside<Args> | ToolOutside<Args>);

/** The same, as it is written down where it is one of ours. */
type ToolDefinition<Schema extends z.ZodType> = ToolDescription<z.infer<Schema>> & { parameters: Schema } & (
    ToolInside<z.infer<Schema>> | ToolOutside<z.infer<Schema>>
  );

/** Its effects are in our database. */
interface ToolInside<Args> {
  /**
   * Runs the call. Effects go through `tx`, which also records the result: either both happen or neither, so a call that was cut off
   * simply runs again.
   */
  run: (tx: Tx, args: Args, context: ToolContext) => Promise<ToolOutcome>;
  callOut?: never;
  limits?: never;
}

/** It asks a model, or a server elsewhere. */
interface ToolOutside<Args> {
  /**
   * Makes the call, with no transaction open. Its result is recorded afterwards. A call that was cut off in between is made again, with
   * the same idempotency key, where {@link effectOf} lets it be repeated; else nobody makes it a second time, and its outcome is unknown.
   *
   * What the other side refuses is a result with `isError`. Throws {@link NotSent} for what has surely not reached it; after anything
   * else that is thrown the call may have had its effect.
   */
  callOut: (args: Args, context: ToolContext) => Promise<ToolResult>;
  /** How long a call may take; absent: {@link CALL_LIMITS}. */
  limits?: CallLimits;
  run?: never;
}

/** How long a call may take that goes out. */
export interface CallLimits {
  /** Without a sign of progress. */
  idleMs: number;
  /** With any. */
  totalMs: number;
}

export const CALL_LIMITS: CallLimits = { idleMs: 60_000, totalMs: 300_000 };

/** Thrown by a tool whose call has surely not reached the other side. The message is for the model. */
export class NotSent extends Error {}

/** What can be passed to a tool. */
interface ToolArguments {
  /** JSON Schema of the arguments, as models are told it. */
  schema: Record<string, unknown>;
  /** @returns the value that the effect takes, or what is wrong, in words for the model */
  parse: (raw: unknown) => ParsedArguments;
}

export type ParsedArguments = { ok: true; value: unknown } | { ok: false; problems: string[] };

interface ToolDescription<Args> {
  /** Stable, e.g. `todo_write` or `con_github.create_issue`. */
  slug: string;
  /** What the model calls it: at most 64 characters of `[a-zA-Z0-9_-]`. */
  name: string;
  description: string;
  /** Scope of the grant that reaches it, e.g. `core`. */
  scope: string;
  /** Of one that every agent has and that does nothing without them: the kind of scopes that open it. */
  openedBy?: 'kb' | 'agent' | 'process' | 'prompt';
  accessLevel: AccessLevel;
  /** What its server declares of it. */
  hints?: ToolHints;
  /** The connection whose server has it. */
  connectionId?: string;
  /** Of the connection behind it; calls that the mode covers need a recorded decision. Absent: off. */
  decisionMode?: DecisionMode;
  /** Whether a call has something else make calls that a mode covers: then it needs a recorded decision itself. Asked where the log is on. */
  callsCovered?: (db: Db, args: Args, context: Pick<ToolContext, 'orgId' | 'tools'>) => Promise<boolean>;
  isTerminal?: boolean;
  /** A call may make its turn wait for this. */
  waitsFor?: WaitKind;
  /** Which calls may; absent: every one. Those that may are made after all that do not. */
  waitsWhen?: (args: Args) => boolean;
  /** Offered only where this holds for the agent and the chat at hand, e.g. a memory tool where memory is on. */
  availableTo?: (agent: {
    memory_enabled: boolean;
    allowed_tools: readonly string[];
    mounted_skills: readonly string[];
    child_agent_ids: readonly string[];
    knowledge_base_ids: readonly string[];
    decision_log: boolean;
    origin: ChatOrigin;
    environment: Workplace | null;
  }) => boolean;
}

/** Where a tool's calls have their effect. What only reads, and what its server declares to do nothing more the second time, may be repeated. */
export function effectOf({ callOut, accessLevel, hints }: Pick<Tool, 'callOut' | 'accessLevel' | 'hints'>): Effect {
  if (!callOut) return 'inside';
  return accessLevel === 'read' || hints?.idempotentHint === true ? 'repeatable' : 'once';
}

/** One of our own tools; its schema is written down once, and the types of its arguments follow from it. */
export function defineTool<Schema extends z.ZodType>({ parameters, ...tool }: ToolDefinition<Schema>): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' }) as Record<string, unknown>;
  const parse = (raw: unknown): ParsedArguments => {
    const result = parameters.safeParse(raw);
    if (result.success) return { ok: true, value: result.data };
    return { ok: false, problems: result.error.issues.map((i) => `${i.path.map(String).join('.') || 'arguments'}: ${i.message}`) };
  };
  return { ...tool, schema, parse } as unknown as Tool;
}

/** How metrics name a tool: what servers of others call theirs could be anything. */
export const labelOf = (tool: Pick<Tool, 'slug' | 'connectionId'> | undefined): string =>
  tool?.connectionId ? 'connection' : (tool?.slug ?? 'unknown');
