import type { Schema } from '@aps/platform/json-schema';

/** JSON in which any text may hold expressions, as `${…}`; null where there is none. */
export type Template = unknown;
/** An expression by itself. */
export type Expression = string;

export const STEP_KINDS = [
  'prompt',
  'llm',
  'tool',
  'branch',
  'loop',
  'parallel',
  'human',
  'wait',
  'transform',
  'agent',
  'process',
  'flag',
] as const;
export type StepKind = (typeof STEP_KINDS)[number];

export const MODEL_MODES = ['trivial', 'normal', 'high_effort', 'x_high'] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/** What follows where nobody has answered, or nothing has come, in time. */
export const TIMEOUT_ACTIONS = ['fail', 'flag', 'continue'] as const;
export type TimeoutAction = (typeof TIMEOUT_ACTIONS)[number];

export const JOINS = ['all', 'any', 'settled'] as const;
export const AMBIGUOUS_ACTIONS = ['retry', 'ask', 'fail'] as const;
export const CONCURRENCY_STRATEGIES = ['queue', 'reject', 'cancel_running'] as const;
export const AFTER_ERROR = ['fail', 'flag', 'continue'] as const;

/** How often a step is tried, and how long is waited in between; seconds. */
export interface Retry {
  max_attempts: number;
  initial_s: number;
  factor: number;
  max_s: number;
}

interface StepBase<K extends StepKind> {
  id: string;
  kind: K;
}

/** A step that asks a model or another side: it may be tried again, and takes no longer than this for a try. */
interface Effectful<K extends StepKind> extends StepBase<K> {
  timeout_s: number;
  retry: Retry;
}

/** Runs a prompt template. */
export interface PromptStep extends Effectful<'prompt'> {
  /** Slug or id. */
  template: string;
  /** An object: `text`, `url`, and variables by their names. */
  input: Template;
  model_mode: ModelMode | null;
}

/** Asks a model. */
export interface LlmStep extends Effectful<'llm'> {
  prompt: Template;
  system: Template;
  model: string | null;
  model_mode: ModelMode | null;
  /** The output is an object of this form; null: text. */
  output_schema: Schema | null;
}

export interface ToolStep extends Effectful<'tool'> {
  tool: string;
  arguments: Template;
  /** How often a model may mend arguments that were refused; null: never. */
  repair: { max_attempts: number } | null;
  /** What follows where nobody knows whether a call had its effect; null: as its access level says. */
  on_ambiguous: (typeof AMBIGUOUS_ACTIONS)[number] | null;
}

export interface BranchStep extends StepBase<'branch'> {
  branches: { when: Expression; steps: Step[] }[];
  else: Step[];
}

export interface LoopStep extends StepBase<'loop'> {
  /** Of a loop over a list: `${…}` that gives one, or the list. Exactly one of `over` and `while` is set. */
  over: Template;
  /** Asked before each iteration. In `steps` and `vars` it sees what the one before has left of the loop's own list, too: nothing at first. */
  while: Expression | null;
  /** The name in `vars` of the item, where there are items; `<as>_index` is its place. */
  as: string;
  concurrency: number;
  max_iterations: number;
  steps: Step[];
}

export interface ParallelStep extends StepBase<'parallel'> {
  join: (typeof JOINS)[number];
  branches: { id: string; steps: Step[] }[];
}

export interface HumanStep extends StepBase<'human'> {
  prompt: Template;
  /** JSON Schema of the values that are asked for; null: an approval. */
  form: Schema | null;
  /** `role:OWNER|ADMIN|MEMBER`, `user:{uuid}` or an address; none: any member. */
  assignees: string[];
  /** Null: as long as any question to a human. */
  timeout_s: number | null;
  on_timeout: TimeoutAction;
}

/** Exactly one of `for_s`, `until` and `event` is set. */
export interface WaitStep extends StepBase<'wait'> {
  for_s: Template;
  until: Template;
  event: string | null;
  /** Of an event. */
  timeout_s: number | null;
  on_timeout: TimeoutAction;
}

export interface TransformStep extends StepBase<'transform'> {
  set: Record<string, Template>;
}

export interface AgentStep extends StepBase<'agent'> {
  /** Slug or id. */
  agent: string;
  task: Template;
  output_schema: Schema | null;
  /** A model draws the output out of what the agent has said. */
  distill: boolean;
  max_steps: number | null;
  timeout_s: number | null;
}

export interface ProcessStep extends StepBase<'process'> {
  process: string;
  input: Template;
  timeout_s: number | null;
}

export interface FlagStep extends StepBase<'flag'> {
  reason: Template;
}

export type Step =
  | PromptStep
  | LlmStep
  | ToolStep
  | BranchStep
  | LoopStep
  | ParallelStep
  | HumanStep
  | WaitStep
  | TransformStep
  | AgentStep
  | ProcessStep
  | FlagStep;

/** What is done when a top-level step has failed for good. */
export interface ErrorHandler {
  /** An error code, or `*`. */
  match: string;
  steps: Step[];
  then: (typeof AFTER_ERROR)[number];
}

/** A definition that was found to be one, with every default written out. */
export interface Definition {
  input_schema: Schema | null;
  /** Null: the run's output is null. */
  output: Template;
  concurrency: { key: Template; limit: number; strategy: (typeof CONCURRENCY_STRATEGIES)[number] } | null;
  limits: { max_credits: string | null; max_duration_s: number | null };
  steps: Step[];
  on_error: ErrorHandler[];
}

/** What keeps a revision from being pushed or deployed, in plain words. */
export interface DefinitionProblem {
  /** Null where it is of no step. */
  step_id: string | null;
  /** Below the step, or below the definition. */
  field: string;
  problem: string;
  valid_values: string[];
}

/** What is worth a look, and keeps nothing from being deployed. */
export type DefinitionWarning = Omit<DefinitionProblem, 'valid_values'>;
