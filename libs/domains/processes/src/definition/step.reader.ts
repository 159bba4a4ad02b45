import type { Place } from '@aps/platform/definitions';
import {
  AMBIGUOUS_ACTIONS,
  JOINS,
  MODEL_MODES,
  STEP_KINDS,
  TIMEOUT_ACTIONS,
  type Retry,
  type Step,
  type StepKind,
  type ToolStep,
} from './definition.types';
import { FieldReader, ID, MAX_TRY_S, MAX_WAIT_S, type Keys, type Read } from './step.fields';

/** How deep lists of steps nest, the first counted. */
export const MAX_NESTING = 10;
const MAX_BRANCHES = 50;
const MAX_ASSIGNEES = 20;
const MAX_REPAIRS = 2;
const MAX_CONCURRENCY = 50;
const MAX_ITERATIONS = 10_000;
const MAX_AGENT_STEPS = 1_000;

/** What steps have that say nothing else. */
export interface Defaults {
  timeout_s: number;
  retry: Retry;
}

interface Kind<K extends StepKind> {
  required: readonly string[];
  optional: readonly string[];
  read: (keys: Keys, loc: Place, depth: number) => Read<K>;
}

/** Reads steps of which nothing is known, each by its kind. */
export class StepReader extends FieldReader {
  /** Steps that have been read, nested ones too. */
  protected count = 0;
  protected defaults: Defaults = { timeout_s: 600, retry: { max_attempts: 3, initial_s: 2, factor: 2, max_s: 60 } };
  private readonly taken = new Set<string>();

  steps(value: unknown, loc: Place, depth: number): Step[] {
    if (depth > MAX_NESTING) {
      this.refuse(loc, `Steps may nest ${MAX_NESTING} levels deep`);
      return [];
    }
    return this.list(value, loc, {}, (step, at) => this.step(step, at, depth));
  }

  private step(value: unknown, loc: Place, depth: number): Step {
    this.count += 1;
    const own = (key: string): unknown =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : null;
    const kind = STEP_KINDS.find((each) => each === own('kind'));
    if (typeof own('id') === 'string') this.enter(loc, own('id') as string);
    if (!kind) {
      const keys = this.object(value, loc, ['id', 'kind'], Object.keys(typeof value === 'object' && value !== null ? value : {}));
      if (keys.has('kind')) this.refuse([...loc, 'kind'], `Unknown kind; known are ${STEP_KINDS.join(', ')}`, 'enum', STEP_KINDS);
      return { id: this.id(keys, loc), kind: 'flag', reason: '' };
    }
    const { required, optional, read } = this.kinds[kind];
    const keys = this.object(value, loc, ['id', 'kind', ...required], optional);
    return { id: this.id(keys, loc), kind, ...read(keys, loc, depth) } as Step;
  }

  private id(keys: Keys, loc: Place): string {
    const id = this.text(keys.get('id'), [...loc, 'id'], { max: 64, form: ID });
    if (this.taken.has(id)) this.refuse([...loc, 'id'], `'${id}' is taken by another step or branch`);
    if (id) this.taken.add(id);
    return id;
  }

  private tries(keys: Keys, loc: Place): Defaults {
    return {
      timeout_s: this.whole(keys, loc, 'timeout_s', 1, MAX_TRY_S) ?? this.defaults.timeout_s,
      retry: this.retry(keys.get('retry'), [...loc, 'retry'], this.defaults.retry),
    };
  }

  private readonly kinds: { [K in StepKind]: Kind<K> } = {
    prompt: {
      required: ['template'],
      optional: ['input', 'model_mode', 'timeout_s', 'retry'],
      read: (keys, loc) => ({
        template: this.ref(keys, loc, 'template'),
        input: this.objectTemplate(keys, loc, 'input'),
        model_mode: this.choice(keys, loc, 'model_mode', MODEL_MODES),
        ...this.tries(keys, loc),
      }),
    },
    llm: {
      required: ['prompt'],
      optional: ['system', 'model', 'model_mode', 'output_schema', 'timeout_s', 'retry'],
      read: (keys, loc) => ({
        prompt: this.textTemplate(keys, loc, 'prompt'),
        system: keys.has('system') ? this.textTemplate(keys, loc, 'system') : null,
        model: this.refOrNull(keys, loc, 'model'),
        model_mode: this.choice(keys, loc, 'model_mode', MODEL_MODES),
        output_schema: this.schema(keys, loc, 'output_schema'),
        ...this.tries(keys, loc),
      }),
    },
    tool: {
      required: ['tool'],
      optional: ['arguments', 'repair', 'on_ambiguous', 'timeout_s', 'retry'],
      read: (keys, loc) => ({
        tool: this.ref(keys, loc, 'tool'),
        arguments: this.objectTemplate(keys, loc, 'arguments'),
        repair: this.repair(keys, loc),
        on_ambiguous: this.choice(keys, loc, 'on_ambiguous', AMBIGUOUS_ACTIONS),
        ...this.tries(keys, loc),
      }),
    },
    branch: {
      required: ['branches'],
      optional: ['else'],
      read: (keys, loc, depth) => ({
        branches: this.list(keys.get('branches'), [...loc, 'branches'], { min: 1, max: MAX_BRANCHES }, (branch, at) => {
          const inner = this.object(branch, at, ['when', 'steps']);
          return { when: this.expression(inner, at, 'when'), steps: this.steps(inner.get('steps'), [...at, 'steps'], depth + 1) };
        }),
        else: this.steps(keys.get('else'), [...loc, 'else'], depth + 1),
      }),
    },
    loop: {
      required: ['steps'],
      optional: ['over', 'while', 'as', 'concurrency', 'max_iterations'],
      read: (keys, loc, depth) => this.loop(keys, loc, depth),
    },
    parallel: {
      required: ['branches'],
      optional: ['join'],
      read: (keys, loc, depth) => ({
        join: this.choice(keys, loc, 'join', JOINS) ?? 'all',
        branches: this.list(keys.get('branches'), [...loc, 'branches'], { min: 1, max: MAX_BRANCHES }, (branch, at) => {
          const inner = this.object(branch, at, ['id', 'steps']);
          return { id: this.id(inner, at), steps: this.steps(inner.get('steps'), [...at, 'steps'], depth + 1) };
        }),
      }),
    },
    human: {
      required: ['prompt'],
      optional: ['form', 'assignees', 'timeout_s', 'on_timeout'],
      read: (keys, loc) => ({
        prompt: this.textTemplate(keys, loc, 'prompt'),
        form: this.form(keys, loc, 'form'),
        assignees: this.list(keys.get('assignees'), [...loc, 'assignees'], { max: MAX_ASSIGNEES }, (one, at) => this.assignee(one, at)),
        timeout_s: this.whole(keys, loc, 'timeout_s', 1, MAX_WAIT_S),
        on_timeout: this.choice(keys, loc, 'on_timeout', TIMEOUT_ACTIONS) ?? 'fail',
      }),
    },
    wait: {
      required: [],
      optional: ['for_s', 'until', 'event', 'timeout_s', 'on_timeout'],
      read: (keys, loc) => this.wait(keys, loc),
    },
    transform: {
      required: ['set'],
      optional: [],
      read: (keys, loc) => ({ set: this.setOf(keys, loc, 'set') }),
    },
    agent: {
      required: ['agent', 'task'],
      optional: ['output_schema', 'distill', 'max_steps', 'timeout_s'],
      read: (keys, loc) => {
        const distill = this.boolean(keys.get('distill'), [...loc, 'distill']);
        if (distill && !keys.has('output_schema')) this.refuse([...loc, 'distill'], 'What is distilled needs an output_schema');
        return {
          agent: this.ref(keys, loc, 'agent'),
          task: this.textTemplate(keys, loc, 'task'),
          output_schema: this.schema(keys, loc, 'output_schema'),
          distill,
          max_steps: this.whole(keys, loc, 'max_steps', 1, MAX_AGENT_STEPS),
          timeout_s: this.whole(keys, loc, 'timeout_s', 1, MAX_WAIT_S),
        };
      },
    },
    process: {
      required: ['process'],
      optional: ['input', 'timeout_s'],
      read: (keys, loc) => ({
        process: this.ref(keys, loc, 'process'),
        input: this.objectTemplate(keys, loc, 'input'),
        timeout_s: this.whole(keys, loc, 'timeout_s', 1, MAX_WAIT_S),
      }),
    },
    flag: {
      required: ['reason'],
      optional: [],
      read: (keys, loc) => ({ reason: this.textTemplate(keys, loc, 'reason') }),
    },
  };

  private expression(keys: Keys, loc: Place, key: string): string {
    return this.text(keys.get(key), [...loc, key], { max: Infinity });
  }

  private repair(keys: Keys, loc: Place): ToolStep['repair'] {
    if (!keys.has('repair')) return null;
    const at = [...loc, 'repair'];
    return {
      max_attempts:
        this.whole(this.object(keys.get('repair'), at, [], ['max_attempts']), at, 'max_attempts', 1, MAX_REPAIRS) ?? MAX_REPAIRS,
    };
  }

  private loop(keys: Keys, loc: Place, depth: number): Read<'loop'> {
    this.requireOne(keys, loc, ['over', 'while']);
    const concurrency = this.whole(keys, loc, 'concurrency', 1, MAX_CONCURRENCY) ?? 1;
    if (keys.has('while') && concurrency > 1) this.refuse([...loc, 'concurrency'], 'Iterations of while run one after another');
    return {
      over: this.listTemplate(keys, loc, 'over'),
      while: keys.has('while') ? this.expression(keys, loc, 'while') : null,
      as: keys.has('as') ? this.text(keys.get('as'), [...loc, 'as'], { max: 64, form: ID }) : 'item',
      concurrency,
      max_iterations: this.whole(keys, loc, 'max_iterations', 1, MAX_ITERATIONS) ?? 100,
      steps: this.steps(keys.get('steps'), [...loc, 'steps'], depth + 1),
    };
  }

  private wait(keys: Keys, loc: Place): Read<'wait'> {
    this.requireOne(keys, loc, ['for_s', 'until', 'event']);
    if (keys.has('timeout_s') && !keys.has('event')) this.refuse([...loc, 'timeout_s'], 'Only an event may be late');
    return {
      for_s: this.secondsTemplate(keys, loc, 'for_s'),
      until: this.timeTemplate(keys, loc, 'until'),
      event: this.refOrNull(keys, loc, 'event'),
      timeout_s: this.whole(keys, loc, 'timeout_s', 1, MAX_WAIT_S),
      on_timeout: this.choice(keys, loc, 'on_timeout', TIMEOUT_ACTIONS) ?? 'fail',
    };
  }

  private requireOne(keys: Keys, loc: Place, names: readonly string[]): void {
    if (names.filter((name) => keys.has(name)).length !== 1)
      this.refuse(loc, `Exactly one of ${names.join(', ')} should be there`, 'value_error', names);
  }
}
